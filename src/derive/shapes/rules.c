// rules.c: entries of `contacts` whose pairs come and go.
//
// Where shapes could make many pairs (form.c), no pair has formulas of its own (model/near.c).  An entry is a rule that
// says which shapes meet; shapes with the same formulas are a group, and two groups make one kind of pair, with its
// tape (kinds.c) and its laws.
#include "derive/shapes/shapes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- reading ----------------------------------------------------------------------------------------------------------

// May its pairs share tapes?
static bool suits(const carom_model *m, const shape *s) {
    return !s->member && !s->part && s->body && (s->body->v >= 0 || carom_body_fixed(m->graph, s->body));
}

// `ignore` of a rule: which shapes stand in which list.
static carom_status read_ignored(resolver *r, near_rule *rule) {
    const carom_datum *list = &rule->entry->ignore;
    const size_t n = (size_t)r->m->nshapes;
    CAROM_TRY(carom_ignore_check(r, rule->entry));
    rule->nignored = carom_count(list);
    rule->ignore = rule->nignored ? carom_pool_take(&r->m->memory, (size_t)rule->nignored * n) : NULL;
    if (rule->nignored && !rule->ignore) return carom_fault_memory(r);
    for (int i = 0; i < rule->nignored; ++i)
        for (int k = 0; k < 2; ++k)
            for (const carom_datum *both = list->item[i].item, *c = carom_ones(&both[k]); c != carom_ones_end(&both[k]);
                 ++c) {
                const shape *s = NULL;
                CAROM_TRY(carom_find_shape(r, c, &s));
                for (int part = 0; part <= s->parts; ++part)
                    rule->ignore[(size_t)i * n + (size_t)(s - r->m->shapes + part)] |= (unsigned char)(1 << k);
            }
    return CAROM_OK;
}

static carom_status find_all(resolver *r, const carom_datum *list, int bit, unsigned char *side, bool *good) {
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list); ++c) {
        const shape *s = NULL;
        CAROM_TRY(carom_find_shape(r, c, &s));
        *good = *good && suits(r->m, s);
        if (side[s - r->m->shapes] & bit) return carom_listed_twice(r, c);
        if (side[s - r->m->shapes]) return carom_pair_check(r, c, s, s);
        for (int i = 0; i <= s->parts; ++i) side[s - r->m->shapes + i] |= (unsigned char)bit;
    }
    return CAROM_OK;
}

static struct near_pairs *near_of(resolver *r) {
    carom_model *m = r->m;
    if (m->near) return m->near;
    struct near_pairs *x = carom_pool_take(&m->memory, sizeof *x);
    const size_t n = (size_t)m->nshapes + 1, rules = (size_t)r->mech->ncontacts;
    if (!x) return NULL;
    x->nshapes = m->nshapes;
    x->shape = carom_pool_take(&m->memory, n * sizeof *x->shape);
    x->group = carom_pool_take(&m->memory, n * sizeof *x->group);
    x->sample = carom_pool_take(&m->memory, n * sizeof *x->sample);
    x->rule = carom_pool_take(&m->memory, rules * sizeof *x->rule);
    x->side = carom_pool_take(&m->memory, rules * n);
    if (!x->shape || !x->group || !x->sample || !x->rule || !x->side) return NULL;
    for (int i = 0; i < m->nshapes; ++i) {
        const shape *s = x->shape[i] = &m->shapes[i];
        x->group[i] = -1;
        x->numbered = x->numbered || s->kind == SHAPE_ELEMENT || carom_shape_piece(s);
        x->others = x->others || (s->kind > SHAPE_ROUND && s->kind != SHAPE_BOX && s->kind != SHAPE_PLANE &&
                                  !carom_patch_pair(s, s));
    }
    return m->near = x;
}

// Boxes and rounds of one kind have their sizes as parameters, where all formulas of the model do (kinds.c).
static bool sized(const struct near_pairs *x, const shape *s) {
    return carom_shape_piece(s) || (s->kind == SHAPE_ROUND && !x->numbered) ||
           (s->kind == SHAPE_BOX && s->space == SPATIAL && !x->others);
}

// Hulls are all of one kind.
static bool alike(const struct near_pairs *x, const shape *a, const shape *b) {
    return carom_patch_pair(a, a) ? a->kind == b->kind : carom_shape_same(a, b, sized(x, a));
}

// Is a direction of friction fixed in one of two bodies, and not in the other?
static bool axes_differ(const carom_datum *friction, const body *a, const body *b) {
    const carom_datum *of = carom_datum_get(friction, "of");
    return of && of->kind == CAROM_TEXT && carom_body_called(a, of->text) != carom_body_called(b, of->text);
}

static bool told_apart(const carom_mech *mech, const body *a, const body *b) {
    if (a == b) return false;
    for (int i = 0; i < mech->ncontacts; ++i)
        if (axes_differ(&mech->contacts[i].friction, a, b)) return true;
    for (int i = 0; i < mech->nmaterials; ++i) {
        const carom_mech_material *of = &mech->materials[i];
        if (axes_differ(&of->own.friction, a, b)) return true;
        for (int k = 0; k < of->nwith; ++k)
            if (axes_differ(&of->with[k].friction, a, b)) return true;
    }
    return mech->defaults && axes_differ(&mech->defaults->friction, a, b);
}

// The group of shape i.
static void join_group(const carom_mech *mech, struct near_pairs *x, int i) {
    const shape *s = x->shape[i];
    if (x->group[i] >= 0) return;
    int g = 0;
    while (g < x->ngroups &&
           !(s->material == x->sample[g]->material && alike(x, s, x->sample[g]) &&
             carom_body_same(s->body, x->sample[g]->body) && !told_apart(mech, s->body, x->sample[g]->body)))
        ++g;
    if (g == x->ngroups) x->sample[x->ngroups++] = s;
    x->group[i] = g;
}

carom_status carom_near_read(resolver *r, const carom_mech_contact *entry, bool *taken) {
    const carom_datum *list = carom_given(&entry->between), *each = carom_given(&entry->among);
    *taken = false;
    if ((each && each->kind != CAROM_LIST) || (list && (list->kind != CAROM_LIST || list->count != 2))) return CAROM_OK;
    struct near_pairs *x = near_of(r);
    if (!x) return carom_fault_memory(r);
    x->sleep = r->m->sleep;
    if (x->nshapes > MOST_NEAR_SHAPES) return carom_fault(r, &entry->name, 0, "more than %d shapes", MOST_NEAR_SHAPES);
    unsigned char *side = x->side + (size_t)x->nrules * (size_t)x->nshapes;
    memset(side, 0, (size_t)x->nshapes);
    bool good = true;
    if (each) CAROM_TRY(find_all(r, each, 4, side, &good));
    else for (int k = 0; k < 2; ++k) CAROM_TRY(find_all(r, list->item + k, 1 << k, side, &good));
    if (!good) return CAROM_OK;
    for (int i = 0; i < x->nshapes; ++i) {
        if (!side[i]) continue;
        join_group(r->mech, x, i);
        x->patches = x->patches || carom_patch_listed(x->shape[i], x->shape[i]);
    }
    x->rule[x->nrules++] = (near_rule){.entry = entry};
    *taken = true;
    return read_ignored(r, &x->rule[x->nrules - 1]);
}

// -- kinds ------------------------------------------------------------------------------------------------------------

static bool groups_meet(const int *count, int a, int b) { // count: 3 numbers of every group, of sides 1, 2 and `among`
    const int *p = count + 3 * a, *q = count + 3 * b;
    return (p[0] && q[1]) || (p[1] && q[0]) || (a == b ? p[2] > 1 : p[2] && q[2]);
}

// Where pairs are ignored: does some shape of a meet some of b?
static bool some_meet(const struct near_pairs *x, int rule, int a, int b) {
    for (int i = 0; i < x->nshapes; ++i)
        for (int k = 0; x->group[i] == a && k < x->nshapes; ++k)
            if (x->group[k] == b && i != k && carom_near_meet(x, rule, i, k)) return true;
    return false;
}

// Outlines: two shapes of these groups on different bodies that meet, in the order of near.c; false: there are none.
static bool find_pieces(const struct near_pairs *x, int rule, int a, int b, const shape **A, const shape **B) {
    for (int i = 0; i < x->nshapes; ++i)
        for (int k = 0; x->group[i] == a && k < x->nshapes; ++k) {
            const body *p = x->shape[i]->body, *q = x->shape[k]->body;
            if (x->group[k] != b || p == q || (q->v >= 0 && q->v < p->v) || !carom_near_meet(x, rule, i, k)) continue;
            *A = x->shape[i], *B = x->shape[k];
            return true;
        }
    return false;
}

// Where the entry names the later one of two shapes; what names neither is the entry's own name.
static carom_status find_place(resolver *r, const near_rule *rule, const shape *A, const shape *B,
                               const carom_datum **place) {
    const carom_datum *two = carom_given(&rule->entry->between), *each = &rule->entry->among,
                      *const lists[] = {two ? two->item : each, two ? two->item + 1 : NULL};
    *place = &rule->entry->name;
    for (int k = 0; k < 2 && lists[k]; ++k)
        for (const carom_datum *c = carom_ones(lists[k]); c != carom_ones_end(lists[k]); ++c) {
            const shape *s = NULL;
            CAROM_TRY(carom_find_shape(r, c, &s));
            if (s == A || s == B) *place = c;
        }
    return CAROM_OK;
}

// Shapes of a group differ in size: whether one has room inside another is asked of each.
static carom_status check_room(resolver *r, int rule, int a, int b) {
    const struct near_pairs *x = r->m->near;
    for (int i = 0; i < x->nshapes; ++i)
        for (int k = 0; x->group[i] == a && k < x->nshapes; ++k)
            if (x->group[k] == b && carom_near_meet(x, rule, i, k)) {
                const carom_datum *place;
                carom_error unused = {0}, *err = r->err;
                r->err = &unused; // most are right: only for what is wrong the place is looked for
                const carom_status status = carom_pair_check(r, &x->rule[rule].entry->name, x->shape[i], x->shape[k]);
                r->err = err;
                if (status == CAROM_OK) continue;
                CAROM_TRY(find_place(r, &x->rule[rule], x->shape[i], x->shape[k], &place));
                return carom_pair_check(r, place, x->shape[i], x->shape[k]);
            }
    return CAROM_OK;
}

// Bodies of a pair come in the order of near.c, and formulas are made for that order: two shapes of these groups that
// have it; false: there are none.
static bool in_order(const struct near_pairs *x, int a, int b, const shape **A, const shape **B) {
    if (a == b || (*B)->body->v < 0 || (*A)->body->v < (*B)->body->v) return true;
    for (int i = 0; i < x->nshapes; ++i) {
        if (x->group[i] == a && x->shape[i]->body->v < (*A)->body->v) *A = x->shape[i];
        if (x->group[i] == b && x->shape[i]->body->v > (*B)->body->v) *B = x->shape[i];
    }
    return (*A)->body->v < (*B)->body->v;
}

static void *larger(carom_model *m, const void *from, size_t n, size_t more, size_t size) {
    void *to = carom_pool_take(&m->memory, more * size);
    if (to && n) memcpy(to, from, n * size);
    return to;
}

// Room for more kinds: the lists of what they are move together, while nothing points into them.
static bool grow_kinds(carom_model *m) {
    struct near_pairs *x = m->near;
    const size_t n = (size_t)x->npairs, more = 2 * n + 16;
    pair *pairs = larger(m, x->pairs, n, more, sizeof *pairs);
    carom_contact *law = larger(m, x->law, n, more, sizeof *law);
    int *bounce = larger(m, x->bounce, n, more, sizeof *bounce), *rub = larger(m, x->rub, n, more, sizeof *rub);
    carom_node *rubs = larger(m, x->rubs, 2 * n, 2 * more, sizeof *rubs);
    if (!pairs || !law || !bounce || !rub || !rubs) return false;
    x->pairs = pairs, x->law = law, x->bounce = bounce, x->rub = rub, x->rubs = rubs, x->kind_room = (int)more;
    return true;
}

// A pair of two groups: for its contacts and laws.
static carom_status sample_pair(resolver *r, int rule, int a, int b) {
    struct near_pairs *x = r->m->near;
    const near_rule *of = &x->rule[rule];
    const shape *A = x->sample[a], *B = x->sample[b];
    const carom_datum *place;
    CAROM_TRY(find_place(r, of, A, B, &place));
    if ((carom_shape_piece(A) || carom_shape_piece(B)) && !find_pieces(x, rule, a, b, &A, &B)) return CAROM_OK;
    if (!in_order(x, a, b, &A, &B)) return CAROM_OK;
    if (a != b && (A->kind > SHAPE_PLANE || B->kind > SHAPE_PLANE) && !carom_shape_piece(A) && !carom_shape_piece(B))
        CAROM_TRY(check_room(r, rule, a, b));
    else if (a != b) CAROM_TRY(carom_pair_check(r, place, A, B));
    else if (A->body->v < 0)
        return carom_fault(r, place, 0, "'%s' and others like it cannot move; no contact among them is needed",
                           A->name);
    const int n = carom_pair_contacts(A, B);
    if (n == 0 && carom_pieces_never(A, B)) return CAROM_OK;
    if (n == 0)
        return carom_fault(r, place, 0, "contact between %s %s and %s %s is not supported",
                           carom_shape_article(A->kind), carom_shape_word(A->kind), carom_shape_article(B->kind),
                           carom_shape_word(B->kind));
    if (x->npairs == x->kind_room && !grow_kinds(r->m)) return carom_fault_memory(r);
    pair_own *own = carom_pair_own(r->m, (rubbing){0});
    if (!own) return carom_fault_memory(r);
    x->pairs[x->npairs] =
        (pair){.A = A, .B = B, .entry = of->entry, .entry_number = rule, .count = n, .own = own, .shares = true,
               .listed = true};
    *carom_near_kind_of(x, rule, a, b) = x->npairs++; // becomes the kind of that pair
    return CAROM_OK;
}

carom_status carom_near_samples(resolver *r, int rule) {
    carom_model *m = r->m;
    struct near_pairs *x = m->near;
    const size_t cells = (size_t)x->nrules * (size_t)x->ngroups * (size_t)x->ngroups;
    const int before = x->npairs;
    if (rule == 0) {
        x->kind = carom_pool_take(&m->memory, cells * sizeof *x->kind);
        if (!x->kind) return carom_fault_memory(r);
        for (size_t i = 0; i < cells; ++i) x->kind[i] = -1;
    }
    int *count = calloc(3 * (size_t)x->ngroups, sizeof *count);
    if (!count) return carom_fault_memory(r);
    carom_status status = CAROM_OK;
    const unsigned char *side = x->side + (size_t)rule * (size_t)x->nshapes;
    for (int i = 0; i < x->nshapes; ++i)
        for (int k = 0; k < 3 && x->group[i] >= 0; ++k) count[3 * x->group[i] + k] += side[i] >> k & 1;
    for (int a = 0; a < x->ngroups; ++a)
        for (int b = 0; b < x->ngroups && status == CAROM_OK; ++b)
            if (!groups_meet(count, a, b) || (x->rule[rule].nignored && !some_meet(x, rule, a, b))) continue;
            else if (x->sample[a]->body->v >= 0) status = sample_pair(r, rule, a, b);
            else if (x->sample[b]->body->v < 0) {
                const carom_datum *place;
                status = find_place(r, &x->rule[rule], x->sample[a], x->sample[b], &place);
                if (status == CAROM_OK) status = carom_pair_check(r, place, x->sample[a], x->sample[b]);
            }
    free(count);
    if (status == CAROM_OK && x->npairs == before) status = carom_pairs_never(r, x->rule[rule].entry);
    return status;
}

// Surfaces that move along their bodies.
carom_status carom_near_belts(resolver *r) {
    struct near_pairs *x = r->m->near;
    carom_graph *g = r->m->graph;
    x->belt = carom_pool_take(&r->m->memory, ((size_t)x->nshapes + 1) * sizeof *x->belt);
    if (!x->belt) return carom_fault_memory(r);
    for (int i = 0; i < x->nshapes; ++i) x->belt[i] = x->group[i] >= 0 && x->shape[i]->belt ? x->nbelts++ : -1;
    x->belts = carom_pool_take(&r->m->memory, (6 * (size_t)x->nbelts + 1) * sizeof *x->belts);
    if (!x->belts) return carom_fault_memory(r);
    for (int i = 0; i < x->nshapes; ++i)
        for (int k = 0; k < 3 && x->belt[i] >= 0; ++k) {
            carom_node *to = x->belts + 6 * (size_t)x->belt[i] + k;
            to[0] = x->shape[i]->belt->c[k];
            to[3] = carom_node_derivative(g, to[0], CAROM_TIME, 0);
        }
    return CAROM_OK;
}

// A box has no hull: it is too thin for one, or memory is short.
static carom_status no_solid(const carom_model *m, const shape *s, carom_error *err) {
    static const double THINNEST = 1e-4; // of its size, half of that of its edges: about what hull.c asks for
    const double thin = carom_shape_thin(s);
    if (s->kind != SHAPE_BOX || thin > THINNEST * s->bound_radius) return carom_model_no_memory(m, err);
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s: box '%.60s' is %.3g thick, less than 1/10000 of its size: too thin for a dynamic "
                      "contact list; make it thicker",
                      m->file, s->name, 2 * thin);
}

// Slots at the start: those of few shapes suffice for all of their contacts, and an eighth more (model/near.c).  FEW:
// shapes whose pairs are soon counted; SLOTS: where a longer list is made to grow instead.
static int first_slots(const struct near_pairs *x) {
    enum { FEW = 24, SLOTS = 64 };
    int n = 0;
    for (int rule = 0; rule < x->nrules && x->nshapes <= FEW; ++rule)
        for (int i = 0; i < x->nshapes; ++i)
            for (int k = i + 1; k < x->nshapes && n < SLOTS; ++k) {
                if (x->group[i] < 0 || x->group[k] < 0 || !carom_near_meet(x, rule, i, k)) continue;
                const bool swap = carom_near_swapped(x->shape[i], x->shape[k]);
                const int kind = *carom_near_kind_of(x, rule, x->group[swap ? k : i], x->group[swap ? i : k]);
                if (kind >= 0) n += x->pairs[kind].count;
            }
    return x->nshapes > FEW || n + n / 8 > SLOTS ? SLOTS : n + n / 8;
}

// Kinds of all samples.
carom_status carom_near_make(carom_model *m, carom_error *err) {
    struct near_pairs *x = m->near;
    if (!x) return CAROM_OK;
    for (int i = 0; i < x->npairs; ++i) {
        pair *p = &x->pairs[i];
        const int n = p->own->rub.slides
                          ? (p->A->space == SPATIAL ? 2 : 1) * (p->own->rub.roll > 0 ? 2 : 1) + (p->own->rub.spin > 0)
                          : 0;
        if (n > x->tangents && !p->soft) x->tangents = n;
        constraint *links = calloc((size_t)p->count, sizeof *links);
        carom_contact *laws = calloc((size_t)p->count, sizeof *laws);
        carom_status status = links && laws ? CAROM_OK : carom_model_no_memory(m, err);
        for (int k = 0; k < p->count && status == CAROM_OK; ++k) {
            links[k] =
                (constraint){.name = p->entry->name.text, .place = &p->entry->name, .gap = CAROM_NONE, .tangents = n};
            laws[k] = (carom_contact){.friction = p->own->rub.slides, .tangents = n};
        }
        if (status == CAROM_OK) status = carom_kind_add(m, p, links, laws, err);
        free(links);
        free(laws);
        CAROM_TRY(status);
    }
    for (int i = 0; i < x->nshapes && x->patches; ++i)
        if (x->group[i] >= 0 && !carom_patch_solid(m, &m->shapes[i])) return no_solid(m, &m->shapes[i], err);
    x->slots = first_slots(x); // a simulation makes as many as there are contacts
    if (x->slots < x->npairs) x->slots = x->npairs; // every law is among them
    return CAROM_OK;
}

// -- columns of contacts that yield -----------------------------------------------------------------------------------

enum { SOFT_PARTS = 7 }; // of a contact, at most

int carom_near_soft_count(const carom_model *m) {
    return m->near && m->near->yields ? SOFT_PARTS * m->near->nnamed : 0;
}

static carom_status add_soft(resolver *r, int named, soft_part part, int tangent, int tangents) {
    static const char *const word[] = {"gap", "gap", "force", "slip", "friction"};
    struct near_pairs *x = r->m->near;
    char text[CAROM_CONTACT_NAME + 20], name[CAROM_CONTACT_NAME], number[4] = "";
    if (tangents > 1 && tangent) snprintf(number, sizeof number, "%d", tangent);
    snprintf(text, sizeof text, "%s.%s%s%s", carom_near_named_name(x, &x->named[named], name, sizeof name), word[part],
             number, part == SOFT_RATE || part == SOFT_SLIP ? "'" : "");
    const char *own = carom_pool_text(&r->m->memory, text, strlen(text));
    if (!own) return carom_fault_memory(r);
    x->soft[x->nsoft++] = (soft_output){named, tangent, part};
    r->m->output[r->m->nout] = own;
    r->m->output_node[r->m->nout++] = carom_graph_number(r->m->graph, 0); // yielding.c computes it
    return CAROM_OK;
}

carom_status carom_near_soft(resolver *r) {
    struct near_pairs *x = r->m->near;
    const int most = carom_near_soft_count(r->m);
    if (most == 0) return CAROM_OK;
    x->soft = carom_pool_take(&r->m->memory, (size_t)most * sizeof *x->soft);
    if (!x->soft) return carom_fault_memory(r);
    x->soft_from = r->m->nout;
    for (int i = 0; i < x->nnamed; ++i) {
        const near_named *c = &x->named[i];
        const int kind = *carom_near_kind_of(x, c->rule, x->group[c->a], x->group[c->b]);
        const yielding *soft = kind < 0 ? NULL : x->pairs[kind].soft;
        if (!soft) continue;
        const int tangents = soft->friction > 0 ? (x->shape[c->a]->space == SPATIAL ? 2 : 1) : 0;
        for (int part = SOFT_GAP; part <= SOFT_FORCE; ++part) CAROM_TRY(add_soft(r, i, (soft_part)part, 0, tangents));
        for (int k = 1; k <= tangents; ++k) {
            CAROM_TRY(add_soft(r, i, SOFT_SLIP, k, tangents));
            CAROM_TRY(add_soft(r, i, SOFT_FRICTION, k, tangents));
        }
    }
    return CAROM_OK;
}

// -- at the start -----------------------------------------------------------------------------------------------------

// Friction by direction needs tangents: the direction of a contact that is closed is not its normal.
static carom_status check_grain(const carom_model *m, void *work, const near_look *x, double tolerance,
                                carom_error *err) {
    static const double ALONG_NORMAL = 1e-6; // sine
    enum { MOST = 2 * MOST_CORNERS + 3 };
    double place[MOST * PAIR_PLACE];
    for (int i = 0; i < x->list.pairs; ++i) {
        const pair *p = carom_near_at(&x->list, i);
        const ellipse *e = p->own->rub.ellipse;
        if (!e || p->count > MOST) continue;
        carom_pair_places(m, work, p, 0, m->q0, place);
        for (int k = 0; k < p->count; ++k) {
            const double *t = place + PAIR_PLACE * k + 6;
            if (x->gap[p->first + k] > tolerance ||
                !(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] < pow(ALONG_NORMAL * e->factor[0], 2)))
                continue;
            char name[CAROM_CONTACT_NAME];
            return carom_model_fault(m, err, &p->entry->name,
                                     "the direction of friction of contact '%.60s' is its normal initially; give one "
                                     "that lies in the tangential plane",
                                     carom_near_slot_name(m, x, p->first + k - m->ne - m->nc, name, sizeof name));
        }
    }
    return CAROM_OK;
}

carom_status carom_near_start(const carom_model *m, void *work, double scale, carom_error *err) {
    static const double TOLERANCE = 1e-9; // of the size: shapes that are placed on each other overlap by rounding
    near_look x;
    int worst = -1, overlaps = 0;
    CAROM_TRY(carom_near_open(m, work, m->q0, 0, &x, err));
    const double *gap = x.gap + m->ne + m->nc;
    for (int i = 0; i < x.list.slots; ++i) {
        if (!x.list.key[i] || gap[i] >= -TOLERANCE * scale) continue;
        overlaps += x.list.key[i] > 0 || i == 0 || x.list.key[i] != x.list.key[i - 1];
        if (worst < 0 || gap[i] < gap[worst]) worst = i;
    }
    carom_status status = worst < 0 ? check_grain(m, work, &x, TOLERANCE * scale, err) : CAROM_OK;
    if (worst >= 0) {
        char name[140], others[60] = "";
        const near_rule *rule = &m->near->rule[(llabs(x.list.key[worst]) - 1) % m->near->nrules];
        if (overlaps > 1)
            snprintf(others, sizeof others, ", and %d other contact%s overlap%s less", overlaps - 1,
                     overlaps == 2 ? "" : "s", overlaps == 2 ? "s" : "");
        status = carom_model_fault(
            m, err, &rule->entry->name,
            "contact '%.60s': '%s' overlap initially (gap %.6g)%s; %s", rule->entry->name.text,
            carom_near_slot_name(m, &x, worst, name, sizeof name), gap[worst], others,
            m->project ? "no positions near these let it fit; move them, or leave the contact out"
            : m->ne    ? "move them, or use `start: project`"
                       : "move them, or use `settle: yes`");
    }
    carom_near_close(m, work, &x);
    return status;
}
