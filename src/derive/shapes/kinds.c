// kinds.c: tapes of pairs of shapes, and pairs that share one.
//
// The contacts of two boxes in space are 50 000 instructions with all derivatives, and those of two other boxes of the
// same size the same ones with other numbers.  So pairs of equal shapes, of bodies that move alike, are a kind: a small
// model with the two bodies alone, whose graph is forgotten once its tape is made.  A pair then is where its bodies
// have their positions and velocities, and how large its boxes are.  Whatever has a prescribed motion, bends, or is
// carried keeps expressions of its own.
#include "derive/shapes/shapes.h"
#include <stdlib.h>
#include <string.h>

// -- a tape of its own ------------------------------------------------------------------------------------------------

static carom_group two(carom_node *store, const carom_node *a, int na, const carom_node *b, int nb) {
    if (na) memcpy(store, a, (size_t)na * sizeof *store);
    if (nb) memcpy(store + na, b, (size_t)nb * sizeof *store);
    return (carom_group){.count = na + nb, .nodes = store};
}

// Place k of a list that may be empty, and NULL then.
static const carom_node *from(const carom_node *list, int k) { return list ? list + k : NULL; }

// Point, normal, and the directions in which the components of friction act.
static void list_place(carom_graph *g, const pair *p, const touching *t, carom_node *to) {
    vec along[2] = {{{n_num(g, 0), n_num(g, 0), n_num(g, 0)}}, {{n_num(g, 0), n_num(g, 0), n_num(g, 0)}}};
    const int n = carom_pair_along(g, p, t->normal, along);
    for (int k = 0; k < n && p->own->rub.ellipse; ++k)
        along[k] = v_scale(g, along[k], n_num(g, p->own->rub.ellipse->factor[k]));
    for (int i = 0; i < 3; ++i)
        to[i] = t->point.c[i], to[3 + i] = t->normal.c[i], to[6 + i] = along[0].c[i], to[9 + i] = along[1].c[i];
}

static carom_status compile(carom_model *m, pair *p, const carom_node *kappa, carom_error *err) {
    const span a = p->own->from = carom_model_span(m, p->first),
               b = p->own->to = carom_model_span(m, p->first + p->count);
    const int nW = b.W - a.W, nw = b.w - a.w, ndW = b.dW - a.dW, ndw = b.dw - a.dw, ndir = b.dir - a.dir;
    carom_node *store = calloc((size_t)(13 * p->count + nW + nw + 2 * ndW + ndw + 1), sizeof *store);
    if (!store) return carom_model_no_memory(m, err);
    for (int k = 0; k < p->count; ++k) store[k] = m->links[p->first + k].gap;
    carom_node *at = store + p->count;
    const int both = ndir + (nW + nw > ndW + ndw ? nW + nw : ndW + ndw); // rates stand before them
    if (both > m->pair_count) m->pair_count = both;
    carom_group group[PAIR_GROUPS] = {[PAIR_GAPS] = {.count = p->count, .nodes = store},
                                      [PAIR_RATES] = {.count = ndir, .nodes = from(m->u, a.dir)},
                                      [PAIR_CURVATURE] = {.count = ndir, .nodes = from(kappa, a.dir)}};
    group[PAIR_DIRECTIONS] = two(at, from(m->W.node, a.W), nW, from(m->w.node, a.w), nw);
    group[PAIR_REACTION_GRADIENT] = two(at += nW + nw, from(m->dW.node, a.dW), ndW, NULL, 0);
    group[PAIR_RATE_GRADIENT] = two(at += ndW, from(m->dW.node, a.dW), ndW, from(m->dw.node, a.dw), ndw);
    at += ndW + ndw;
    for (int k = 0; k < p->count; ++k) list_place(m->graph, p, &p->own->touch[k], at + PAIR_PLACE * k);
    group[PAIR_PLACES] = (carom_group){.count = PAIR_PLACE * p->count, .nodes = at};
    p->own->tape = carom_tape_compile(m->graph, group, PAIR_GROUPS, m->visible.nq, m->visible.nv, m->np, err);
    free(store);
    return p->own->tape ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_pairs_compile(carom_model *m, const carom_node *kappa, carom_error *err) {
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares) CAROM_TRY(compile(m, &m->pairs[i], kappa, err));
    return CAROM_OK;
}

// -- which pairs ------------------------------------------------------------------------------------------------------

// A body that neither moves nor depends on parameters: all numbers.
bool carom_body_fixed(const carom_graph *g, const body *b) {
    if (b->v >= 0 || b->carried) return false;
    for (int i = 0; i < 12; ++i)
        if (!carom_graph_is_number(g, i < 3 ? b->r[i] : b->R[i - 3], NULL)) return false;
    return true;
}

bool carom_pair_may_share(const carom_model *m, const pair *p) {
    const shape *const both[2] = {p->A, p->B};
    if (m->apart) return false;
    for (int i = 0; i < 2; ++i)
        if (both[i]->belt || both[i]->member || both[i]->part || !both[i]->body ||
            (both[i]->body->v < 0 && !carom_body_fixed(m->graph, both[i]->body)))
            return false;
    return true;
}

// The same frame for all that a formula sees of it; bodies that move are where they are.
bool carom_body_same(const body *a, const body *b) {
    if ((a->v < 0) != (b->v < 0)) return false;
    if (a->v >= 0) return a->space == b->space;
    return memcmp(a->r, b->r, sizeof a->r) == 0 && memcmp(a->R, b->R, sizeof a->R) == 0; // equal numbers are one node
}

bool carom_shape_same(const shape *a, const shape *b, bool sized) {
    shape x = *a, y = *b;
    if (sized) {
        memset(x.half, 0, sizeof x.half), memset(y.half, 0, sizeof y.half);
        x.bound_radius = y.bound_radius = 0;
        if (carom_shape_piece(&x) && x.kind == y.kind && x.piece->winds == y.piece->winds)
            memset(x.at, 0, sizeof x.at), memset(y.at, 0, sizeof y.at), x.piece = y.piece = NULL;
        if (x.kind == SHAPE_ROUND && y.kind == SHAPE_ROUND) x.radius = y.radius = 0;
    }
    if (memcmp(x.X, y.X, 9 * sizeof *x.X) != 0) return false;
    x.X = y.X = NULL;
    x.name = y.name = NULL;
    x.place = y.place = NULL;
    x.body = y.body = NULL;
    x.corner = y.corner = NULL;
    x.contour = y.contour = NULL;
    x.parts = y.parts = 0;
    x.belt = y.belt = NULL; // pairs of one kind have them apart
    if (memcmp(&x, &y, sizeof x) != 0) return false;
    return a->ncorners == 0 || memcmp(a->corner, b->corner, (size_t)a->ncorners * sizeof *a->corner) == 0;
}

// Boxes in space may have any size, against boxes, planes and what is round: their half edges are parameters.  What is
// round may have any radius in a list, against all but elements and outlines.  (Other formulas are made for the
// numbers; shapes of one group do not differ in those, see rules.c.)
static bool simple(const shape *s) {
    return (s->kind == SHAPE_BOX && s->space == SPATIAL) || s->kind <= SHAPE_ROUND || s->kind == SHAPE_PLANE;
}
static bool sized(const pair *p, const shape *s) {
    if (carom_shape_piece(s)) return true;
    if (s->kind == SHAPE_ROUND)
        return p->listed && p->A->kind != SHAPE_ELEMENT && p->B->kind != SHAPE_ELEMENT && !carom_shape_piece(p->A) &&
               !carom_shape_piece(p->B);
    return s->kind == SHAPE_BOX && simple(p->A) && simple(p->B);
}

static bool same_rubbing(const rubbing *a, const rubbing *b) {
    return a->slides == b->slides && a->roll == b->roll && a->spin == b->spin;
}

static bool same_kind(const pair *p, const pair *q) {
    return p->count == q->count && same_rubbing(&p->own->rub, &q->own->rub) &&
           carom_pair_swapped(p) == carom_pair_swapped(q) && carom_body_same(p->A->body, q->A->body) &&
           carom_body_same(p->B->body, q->B->body) && carom_shape_same(p->A, q->A, sized(p, p->A)) &&
           carom_shape_same(p->B, q->B, sized(p, p->B));
}

// -- one kind ---------------------------------------------------------------------------------------------------------

static int positions(const body *b) { return b->v < 0 ? 0 : b->space == SPATIAL ? 7 : 3; }
static int velocities(const body *b) { return b->v < 0 ? 0 : b->space == SPATIAL ? 6 : 3; }

// Bodies, shapes and contacts of the pair p as a model of their own.
static carom_status write(const carom_model *m, const pair_kind *k, const pair *p, const constraint *links,
                          const carom_contact *contacts, resolver *r) {
    carom_model *two = r->m;
    body *b = carom_pool_take(&two->memory, 2 * sizeof *b);
    shape *s = carom_pool_take(&two->memory, 2 * sizeof *s);
    pair *q = carom_pool_take(&two->memory, sizeof *q);
    pair_own *own = carom_pair_own(two, p->own->rub);
    two->links = carom_pool_take(&two->memory, ((size_t)p->count + 1) * sizeof *two->links);
    if (!b || !s || !q || !own || !two->links) return carom_fault_memory(r);
    const body *of[2];
    carom_pair_order(p, of);
    for (int i = 0; i < 2; ++i) {
        b[i] = *of[i];
        b[i].v = of[i]->v < 0 ? -1 : two->nv;
        if (of[i]->v >= 0) carom_body_frame(r, &b[i], two->nq);
        two->nq += positions(of[i]);
        two->nv += velocities(of[i]);
        for (int j = 0; j < 12 && of[i]->v < 0; ++j) {
            double x = 0;
            carom_graph_is_number(m->graph, j < 3 ? of[i]->r[j] : of[i]->R[j - 3], &x);
            *(j < 3 ? &b[i].r[j] : &b[i].R[j - 3]) = carom_graph_number(two->graph, x);
        }
        if (of[i]->v < 0) b[i].angle = carom_graph_number(two->graph, 0);
    }
    s[0] = *p->A;
    s[1] = *p->B;
    s[0].body = p->A->body == of[0] ? &b[0] : &b[1];
    s[1].body = p->A->body == of[0] ? &b[1] : &b[0];
    s[0].belt = s[1].belt = NULL;
    for (int i = 0; i < 2; ++i) {
        if (!k->sized[i]) continue;
        const int n = carom_shape_sizes(&s[i]);
        carom_node *size = carom_pool_take(&two->memory, (size_t)n * sizeof *size);
        if (!size) return carom_fault_memory(r);
        for (int j = 0; j < n; ++j) size[j] = carom_graph_input(two->graph, CAROM_PARAMETER, two->np++);
        s[i].size = size;
    }
    *q = (pair){.A = &s[0], .B = &s[1], .entry = p->entry, .count = p->count, .own = own};
    if (p->own->rub.ellipse && p->own->rub.ellipse->of) { // one of the two
        ellipse *e = carom_pool_take(&two->memory, sizeof *e);
        if (!e) return carom_fault_memory(r);
        *e = *p->own->rub.ellipse;
        e->of = e->of == of[0] ? &b[0] : &b[1];
        q->own->rub.ellipse = e;
    }
    two->visible = (visible){.nq = two->nq, .nv = two->nv, .nq_own = two->nq, .nv_own = two->nv};
    two->nc = p->count;
    two->contacts = (carom_contact *)contacts; // read only
    two->pairs = q;
    two->npairs = 1;
    memcpy(two->links, links, (size_t)p->count * sizeof *two->links);
    CAROM_TRY(carom_pair_express(r, q, two->links));
    if (carom_pair_misaligned(two->graph, q))
        return carom_model_fault(
            m, r->err, &p->own->rub.ellipse->place,
            "the direction of friction is the normal of '%s' and '%s'; give one that lies in the tangential plane",
            p->A->name, p->B->name);
    for (int i = 0; i < 2 * p->count && p->own->rub.ellipse; ++i) {
        carom_node *slip = &two->links[i / 2].slip[i % 2];
        *slip = n_mul(two->graph, *slip, n_num(two->graph, p->own->rub.ellipse->factor[i % 2]));
    }
    return CAROM_OK;
}

static carom_status make(carom_model *m, pair_kind *k, const constraint *links, const carom_contact *contacts,
                         carom_error *err) {
    const pair *p = k->first;
    const body *of[2];
    carom_model *two = k->two = calloc(1, sizeof *two);
    if (!two) return carom_model_no_memory(m, err);
    two->graph = carom_graph_create();
    if (!two->graph) return carom_model_no_memory(m, err);
    two->file = m->file;
    resolver r = {.m = two, .err = err};
    carom_node *kappa = NULL;
    k->sized[0] = sized(p, p->A);
    k->sized[1] = sized(p, p->B);
    CAROM_TRY(write(m, k, p, links, contacts, &r));
    CAROM_TRY(carom_model_derive_directions(two, &kappa, err));
    if (carom_graph_failed(two->graph))
        return carom_model_fault(m, err, &p->entry->name, "the derivatives of contact '%.60s' are too large",
                                 p->entry->name.text);
    CAROM_TRY(carom_pairs_compile(two, kappa, err));
    k->constant = carom_terms_constant(two, &two->W);
    for (int e = 0; e < two->dW.n; ++e) k->couples[two->dW.i[e]][two->dW.l[e]] = true;
    if (two->pair_count > m->pair_count) m->pair_count = two->pair_count;
    carom_pair_order(p, of);
    for (int i = 0; i < 2; ++i) k->nq[i] = positions(of[i]), k->nv[i] = velocities(of[i]);
    carom_graph_destroy(two->graph);
    two->graph = NULL;
    return CAROM_OK;
}

// -- all of them ------------------------------------------------------------------------------------------------------

static void join(carom_model *m, pair *p) {
    p->rank = m->kinds[p->kind].count++;
    carom_pair_place(m, p);
}

carom_status carom_kind_add(carom_model *m, pair *p, const constraint *links, const carom_contact *contacts,
                            carom_error *err) {
    p->kind = m->nkinds++;
    m->kinds[p->kind] = (pair_kind){.first = p};
    if (carom_patch_listed(p->A, p->B)) CAROM_TRY(carom_patch_kind(m, &m->kinds[p->kind], links, err));
    else CAROM_TRY(make(m, &m->kinds[p->kind], links, contacts, err));
    m->kinds[p->kind].two->contacts = NULL;
    join(m, p);
    return CAROM_OK;
}

carom_status carom_kinds_make(carom_model *m, carom_error *err) {
    if (m->npairs == 0 && !m->near) return CAROM_OK;
    const int more = m->near ? m->near->npairs : 0;
    m->kinds = carom_pool_take(&m->memory, (size_t)(m->npairs + more) * sizeof *m->kinds);
    if (!m->kinds) return carom_model_no_memory(m, err);
    if (m->npairs)
        m->pair_of = carom_pool_take(&m->memory, (size_t)(m->ne + m->nc - m->pairs[0].first + 1) * sizeof *m->pair_of);
    if (m->npairs && !m->pair_of) return carom_model_no_memory(m, err);
    for (int i = 0; i < m->npairs; ++i) {
        pair *p = &m->pairs[i];
        for (int k = 0; k < p->count; ++k) m->pair_of[p->first + k - m->pairs[0].first] = i;
        if (!p->shares) continue;
        for (p->kind = 0; p->kind < m->nkinds && !same_kind(p, m->kinds[p->kind].first);) ++p->kind;
        if (p->kind == m->nkinds) {
            m->kinds[m->nkinds++] = (pair_kind){.first = p};
            CAROM_TRY(make(m, &m->kinds[p->kind], &m->links[p->first], m->contacts + (p->first - m->ne), err));
        }
        join(m, p);
    }
    return CAROM_OK;
}

// -- in the model's own graph -----------------------------------------------------------------------------------------

carom_status carom_pair_expressed(resolver *r, int id) {
    carom_model *m = r->m;
    for (int i = 0; i < m->npairs; ++i) {
        pair *p = &m->pairs[i];
        if (id >= p->first && id < p->first + p->count)
            return p->own->touch ? CAROM_OK : carom_pair_express(r, p, &m->links[p->first]);
    }
    return CAROM_OK;
}

// NAME.gap, NAME.slip', NAME.slip1', ...
carom_status carom_pair_quantity(resolver *r, name *n) {
    const constraint *c = &r->m->links[n->index];
    const char *part = n->text + strlen(c->name) + 1;
    CAROM_TRY(carom_pair_expressed(r, n->index));
    if (strcmp(part, "gap") == 0) n->node = c->gap;
    else n->rate = c->slip[part[4] ? part[4] - '1' : 0];
    return CAROM_OK;
}
