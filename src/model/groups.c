// groups.c: see groups.h.
#include "base/grow.h"
#include "model/answers.h"
#include "model/conditions.h"
#include "model/contours.h"
#include "model/groups.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = CAROM_GROUP_ROWS };

// -- pairs of shapes --------------------------------------------------------------------------------------------------

// Shapes of skins are parts of one of the model's.
static int shape_number(const contact_groups *g, const shape *s) {
    const carom_model *m = g->model;
    if (s >= m->shapes && s < m->shapes + m->nshapes) return g->owner[s - m->shapes];
    for (int i = 0; i < m->nshapes; ++i) {
        const shape *skin = &m->shapes[i];
        if (skin->part && s >= skin->part && s < skin->part + 2 * skin->nodes - 1) return i;
    }
    return -1;
}

// Of two shapes in either order; of one contact in the order of the list, with its rule.
static long long pair_key(const contact_groups *g, int a, int b) {
    const long long n = g->model->nshapes + 1;
    return a < b ? a * n + b : b * n + a;
}

static long long contact_key(const contact_groups *g, int a, int b, int rule) {
    const long long n = g->model->nshapes + 1;
    return ((long long)a * n + b) * g->model->near->nrules + rule;
}

static int by_key(const void *x, const void *y) {
    const struct group_key *a = x, *b = y;
    if (a->part != b->part) return (a->part > b->part) - (a->part < b->part);
    return (a->key > b->key) - (a->key < b->key);
}

static int by_shapes(const void *x, const void *y) {
    const struct group_key *a = x, *b = y;
    return (a->key > b->key) - (a->key < b->key);
}

// part -1: of a pair
static int find(const contact_groups *g, long long key, int part) {
    const struct group_key wanted = {key, part, 0},
                           *found = bsearch(&wanted, g->key, (size_t)g->nkeys, sizeof wanted, by_key);
    return found ? found->group : -1;
}

// The rigid contacts of two shapes by one rule, as a list would have them: the number of their kind; -1: none.
static int listed_pair(const carom_model *m, int rule, int a, int b, pair *p) {
    const struct near_pairs *x = m->near;
    if (x->group[a] < 0 || x->group[b] < 0 || x->shape[a]->body == x->shape[b]->body) return -1;
    const bool swap = carom_near_swapped(x->shape[a], x->shape[b]);
    const int A = swap ? b : a, B = swap ? a : b, kind = *carom_near_kind_of(x, rule, x->group[A], x->group[B]);
    if (x->shape[A]->body->v < 0 || kind < 0 || x->pairs[kind].soft || !carom_near_meet(x, rule, A, B)) return -1;
    *p = x->pairs[kind];
    p->A = x->shape[A], p->B = x->shape[B];
    carom_pair_place(m, p);
    return kind;
}

// -- groups -----------------------------------------------------------------------------------------------------------

static contact_group *add(contact_groups *g, carom_group_kind kind, const char *name) {
    if (!CAROM_GROW(g->list, g->n)) return NULL;
    char *own = malloc(strlen(name) + 1);
    if (!own) return NULL;
    contact_group *x = &g->list[g->n++];
    *x = (contact_group){.kind = kind, .name = strcpy(own, name), .entry = -1};
    for (int k = 0; k < ROWS; ++k) x->scale[k] = 1;
    return x;
}

// It is one contact, of such a law.
static void add_law(contact_group *x, const carom_contact *law) {
    x->single = true;
    x->tangents = law->tangents;
    for (int k = 1; k <= 2 && law->ellipse[0] > 0; ++k) x->scale[k] = law->ellipse[k - 1];
}

static bool add_key(contact_groups *g, long long key, int part) {
    if (!CAROM_GROW(g->key, g->nkeys)) return false;
    g->key[g->nkeys++] = (struct group_key){key, part, g->n - 1};
    return true;
}

static bool add_contact(contact_groups *g, const near_named *c) {
    const struct near_pairs *x = g->model->near;
    const int kind = *carom_near_kind_of(x, c->rule, x->group[c->a], x->group[c->b]);
    char name[CAROM_CONTACT_NAME];
    if (kind < 0 || x->pairs[kind].soft) return true;
    contact_group *to = add(g, CAROM_GROUP_CONTACT, carom_near_named_name(x, c, name, sizeof name));
    if (!to || !add_key(g, contact_key(g, c->a, c->b, c->rule), c->part)) return false;
    to->a = c->a, to->b = c->b, to->rule = c->rule, to->part = c->part, to->numbered = !c->shown;
    add_law(to, &x->law[kind]);
    return g->contacts = true;
}

static bool add_contacts(contact_groups *g) {
    const struct near_pairs *x = g->model->near;
    for (int i = 0; x && i < x->nnamed; ++i)
        if (x->named[i].shown && !add_contact(g, &x->named[i])) return false;
    return true;
}

carom_status carom_groups_request_number(contact_groups *g, const char *column) {
    const struct near_pairs *x = g->model ? g->model->near : NULL;
    for (int i = 0; x && i < x->nnamed; ++i) {
        char name[CAROM_CONTACT_NAME];
        const size_t n = strlen(carom_near_named_name(x, &x->named[i], name, sizeof name));
        if (x->named[i].shown || strncmp(column, name, n) != 0 || column[n] != '.') continue;
        bool known = false;
        for (int k = 0; k < g->n; ++k) known = known || strcmp(g->list[k].name, name) == 0;
        if (!known && !add_contact(g, &x->named[i])) return CAROM_NO_MEMORY;
    }
    return CAROM_OK;
}

contact_groups *carom_groups_create(const carom_model *m) {
    contact_groups *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->model = m;
    const int entries = carom_model_entries(m);
    g->of_entry = calloc((size_t)entries + 1, sizeof *g->of_entry);
    g->owner = calloc((size_t)(m ? m->nshapes : 0) + 1, sizeof *g->owner);
    bool good = g->of_entry && g->owner;
    for (int i = 0; good && m && i < m->nshapes; i += 1 + m->shapes[i].parts)
        for (int k = i; k <= i + m->shapes[i].parts; ++k) g->owner[k] = i;
    for (int i = 0; good && i < entries; ++i) {
        const char *name = carom_model_entry_name(m, i);
        contact_group *x = name ? add(g, CAROM_GROUP_ENTRY, name) : NULL;
        g->of_entry[i] = x ? g->n - 1 : -1;
        if (x) x->entry = i;
        good = x || !name;
    }
    for (int i = 0; good && m && i < m->nidle; ++i) good = add(g, CAROM_GROUP_ENTRY, m->idle_entry[i]);
    good = good && (!m || add_contacts(g));
    if (!good) carom_groups_destroy(g);
    return good ? g : NULL;
}

void carom_groups_destroy(contact_groups *g) {
    if (!g) return;
    for (int i = 0; i < g->n; ++i) free(g->list[i].name);
    free(g->list), free(g->of_entry), free(g->owner), free(g->key), free(g->entry_of), free(g->pair_of), free(g->gap);
    free(g->order), free(g->centre), free(g->written);
    free(g);
}

// -- pairs that are asked for -----------------------------------------------------------------------------------------

static bool rigid(const pair *p) {
    const carom_mech_contact *e = p->entry, *of = e->contact ? e->contact : e;
    return !p->soft && !carom_given(&of->stiffness);
}


// Pairs that are always there, by their shapes: part: how many contacts, group: the first of them.
static bool find_written(contact_groups *g) {
    const carom_model *m = g->model;
    if (g->written) return true;
    g->written = calloc((size_t)m->npairs + 1, sizeof *g->written);
    for (int i = 0; g->written && i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        if (rigid(p))
            g->written[g->nwritten++] = (struct group_key){
                pair_key(g, shape_number(g, p->A), shape_number(g, p->B)), p->count, p->first - m->ne};
    }
    if (g->written) qsort(g->written, (size_t)g->nwritten, sizeof *g->written, by_shapes);
    return g->written;
}

// All contacts between shapes a and b: how many, and the law of one of them.
static int count_between(const contact_groups *g, int a, int b, const carom_contact **law) {
    const carom_model *m = g->model;
    const struct group_key wanted = {pair_key(g, a, b), 0, 0}, *end = g->written + g->nwritten,
                           *at = bsearch(&wanted, g->written, (size_t)g->nwritten, sizeof wanted, by_shapes);
    int n = 0;
    while (at && at > g->written && at[-1].key == wanted.key) --at;
    for (; at && at < end && at->key == wanted.key; ++at) n += at->part, *law = &m->contacts[at->group];
    for (int rule = 0; m->near && rule < m->near->nrules; ++rule)
        for (int i = a; i <= a + m->shapes[a].parts; ++i)
            for (int k = b; k <= b + m->shapes[b].parts; ++k) {
                pair p;
                const int kind = listed_pair(m, rule, i, k, &p);
                if (kind >= 0) n += p.count, *law = &m->near->law[kind];
            }
    return n;
}


// A pair that a pattern asks for, under the names in this order.
typedef struct asked_pair { long long key; int a, b; } asked_pair;
typedef struct request { contact_groups *g; asked_pair *list; int n, most; bool failed; } request;

static void ask(request *x, int a, int b) {
    const carom_contact *law;
    if (x->failed || a == b || count_between(x->g, a, b, &law) == 0) return;
    x->failed = x->n == x->most || !CAROM_GROW(x->list, x->n);
    if (!x->failed) x->list[x->n++] = (asked_pair){pair_key(x->g, a, b), a, b};
}

static int by_pair(const void *x, const void *y) {
    const asked_pair *a = x, *b = y;
    if (a->key != b->key) return (a->key > b->key) - (a->key < b->key);
    return (a->a > b->a) - (a->a < b->a);
}

static bool add_asked(request *x) {
    contact_groups *g = x->g;
    const shape *s = g->model->shapes;
    const int sorted = g->nkeys;
    if (x->n) qsort(x->list, (size_t)x->n, sizeof *x->list, by_pair);
    if (sorted) qsort(g->key, (size_t)sorted, sizeof *g->key, by_key);
    for (int i = 0; i < x->n && !x->failed; ++i) {
        const asked_pair *p = &x->list[i];
        const struct group_key wanted = {p->key, -1, 0};
        const carom_contact *law = NULL;
        char name[200];
        if ((i && p[-1].key == p->key) ||
            (sorted && bsearch(&wanted, g->key, (size_t)sorted, sizeof wanted, by_key)))
            continue;
        snprintf(name, sizeof name, "%.90s-%.90s", s[p->a].name, s[p->b].name);
        contact_group *to = add(g, CAROM_GROUP_PAIR, name);
        x->failed = !to || !add_key(g, p->key, -1);
        if (x->failed) break;
        to->a = p->a, to->b = p->b;
        if (count_between(g, p->a, p->b, &law) == 1) add_law(to, law);
        g->pairs = true;
    }
    return !x->failed;
}

// Does a column of shape B, as the second of a pair, match the rest of a pattern?
static bool ends_with(const char *rest, const char *B) {
    for (int role = 0; role < CAROM_ROLES; ++role)
        for (int k = 0; k <= (carom_role_parts[role].tangential ? CAROM_TANGENTS : 0); ++k) {
            char part[40], text[200];
            carom_role_text((carom_role)role, k, part, sizeof part);
            snprintf(text, sizeof text, "%.120s.%s", B, part);
            if (carom_column_matches(rest, text)) return true;
        }
    return false;
}

static bool is_whole(const contact_groups *g, int i) { return g->owner[i] == i; }

carom_status carom_groups_request(contact_groups *g, const char *pattern, int most) {
    const carom_model *m = g->model;
    const int n = m ? m->nshapes : 0;
    request x = {.g = g, .most = most};
    bool *last = calloc((size_t)n + 1, sizeof *last);
    char *first = pattern ? malloc(strlen(pattern) + 1) : NULL;
    x.failed = !last || (pattern && !first) || (n && !find_written(g));
    for (int i = 0; i < n && !pattern; ++i)
        for (int k = i + 1; k < n && !x.failed && is_whole(g, i); ++k)
            if (is_whole(g, k)) carom_pair_in_order(&m->shapes[i], &m->shapes[k]) ? ask(&x, i, k) : ask(&x, k, i);
    for (const char *dash = pattern ? strchr(pattern, '-') : NULL; dash && !x.failed; dash = strchr(dash + 1, '-')) {
        memcpy(first, pattern, (size_t)(dash - pattern));
        first[dash - pattern] = 0;
        for (int i = 0; i < n; ++i) last[i] = is_whole(g, i) && ends_with(dash + 1, m->shapes[i].name);
        for (int i = 0; i < n; ++i) {
            if (!is_whole(g, i) || !carom_column_matches(first, m->shapes[i].name)) continue;
            for (int k = 0; k < n && !x.failed; ++k)
                if (last[k]) ask(&x, i, k);
        }
    }
    const bool good = !x.failed && add_asked(&x);
    free(x.list), free(last), free(first);
    return good ? CAROM_OK : x.n == most ? CAROM_BAD_INPUT : CAROM_NO_MEMORY;
}

// -- at work ----------------------------------------------------------------------------------------------------------

bool carom_groups_ready(contact_groups *g) {
    const carom_model *m = g->model;
    const size_t n = (size_t)g->n, nc = m ? (size_t)m->nc : 0, shapes = m ? (size_t)m->nshapes : 0;
    if (g->nkeys) qsort(g->key, (size_t)g->nkeys, sizeof *g->key, by_key);
    g->gap = calloc((3 + 3 * ROWS) * n + 1, sizeof *g->gap);
    g->entry_of = calloc(nc + 1, sizeof *g->entry_of);
    g->pair_of = calloc(nc + 1, sizeof *g->pair_of);
    g->order = calloc(shapes + 1, sizeof *g->order);
    g->centre = calloc(3 * shapes + 1, sizeof *g->centre);
    if (!g->gap || !g->entry_of || !g->pair_of || !g->order || !g->centre) return false;
    g->closed = g->gap + n, g->nu = g->closed + n, g->rate = g->nu + n;
    g->force = g->rate + ROWS * n, g->impulse = g->force + ROWS * n;
    for (size_t c = 0; c < nc; ++c) g->entry_of[c] = g->pair_of[c] = -1;
    for (int i = 0; m && i < m->npairs && g->n; ++i) {
        const pair *p = &m->pairs[i];
        const int entry = g->of_entry[p->entry_number],
                  both = g->pairs ? find(g, pair_key(g, shape_number(g, p->A), shape_number(g, p->B)), -1) : -1;
        for (int id = p->first; id < p->first + p->count; ++id)
            g->entry_of[id - m->ne] = entry, g->pair_of[id - m->ne] = both;
    }
    return true;
}

// The groups of contact id: of its entry, of its shapes, of itself; -1: none.  False: the slot is not in use.
static bool groups_of(const contact_groups *g, const void *work, int id, int out[3]) {
    const carom_model *m = g->model;
    if (id < m->ne + m->nc) {
        out[0] = g->entry_of[id - m->ne], out[1] = g->pair_of[id - m->ne], out[2] = -1;
        return true;
    }
    const pair *p = carom_near_pair(m, work, id);
    if (!p) return false;
    const int a = (int)(p->A - m->shapes), b = (int)(p->B - m->shapes);
    out[0] = g->of_entry[carom_model_entry_of(m, work, id)];
    out[1] = g->pairs ? find(g, pair_key(g, g->owner[a], g->owner[b]), -1) : -1;
    out[2] = g->contacts ? find(g, contact_key(g, a, b, p->entry_number), id - p->first) : -1;
    return true;
}

static int rows_of(const contact_group *x) { return x->single ? 1 + x->tangents : 1; }

void carom_groups_add(const contact_groups *g, const void *work, const carom_now *now, const carom_system *sys,
                      double *sum) {
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id) {
        const double *p = now->impulse + now->dir[id];
        int of[3];
        if (p[0] == 0 || !groups_of(g, work, id, of)) continue;
        for (int i = 0; i < 3; ++i)
            for (int k = 0; of[i] >= 0 && k < rows_of(&g->list[of[i]]); ++k) sum[ROWS * of[i] + k] += p[k];
    }
}

// Gaps of a pair that may be far away, and rates of its contact `part`, or of that with the least gap (-1; infinite:
// none of them is a distance).
static double gap_of(const contact_groups *g, void *work, double t, const double *q, const double *v, pair *p, int part,
                     int rows, double *u) {
    const carom_model *m = g->model;
    double *x = (double *)(void *)((unsigned char *)work + m->near->room);
    patch features = {.known = false};
    p->patch = &features;
    if (carom_pair_eval(m, work, p, PAIR_GAPS, q, m->v0, x)) return NAN;
    int k = part;
    for (int i = 0; part < 0 && i < p->count; ++i)
        if ((k < 0 || x[i] < x[k]) && carom_contours_apart(m, work, p, i, x[i], t, q)) k = i;
    const double gap = k < 0 ? HUGE_VAL : x[k];
    if (!rows || k < 0) return gap;
    const constraint *c = &m->kinds[p->kind].two->links[k];
    if (carom_pair_eval(m, work, p, PAIR_RATES, q, v, x)) x[c->dir] = NAN;
    carom_belts_at(m, work, t, q);
    carom_belt_rates(m, work, p, q, x);
    for (int i = 0; i < rows; ++i) u[i] = i < c->ndir ? x[c->dir + i] : 0;
    return gap;
}

// -- the least gap of an entry whose pairs come and go ---------------------------------------------------------------

typedef struct closest { const contact_groups *g; void *work; const double *q; int rule; double gap; } closest;

static void compare(closest *x, int a, int b) {
    pair p;
    if (listed_pair(x->g->model, x->rule, a, b, &p) < 0) return;
    const double gap = gap_of(x->g, x->work, 0, x->q, NULL, &p, -1, 0, NULL);
    if (!(gap >= x->gap)) x->gap = gap;
}


static int by_place(const void *a, const void *b) {
    const group_place *x = a, *y = b;
    if (x->row != y->row) return (x->row > y->row) - (x->row < y->row);
    if (x->column != y->column) return (x->column > y->column) - (x->column < y->column);
    return (x->x > y->x) - (x->x < y->x);
}

// Shapes of the rule, and the middle of each.  Returns how many have an end; *widest: their largest radius; low, high:
// a box that holds their middles.
static int place_shapes(const closest *x, double *widest, double *low, double *high) {
    const contact_groups *g = x->g;
    const struct near_pairs *near = g->model->near;
    int n = 0;
    *widest = 0;
    for (int j = 0; j < 3; ++j) low[j] = HUGE_VAL, high[j] = -HUGE_VAL;
    for (int i = 0; i < near->nshapes; ++i) {
        const shape *s = near->shape[i];
        double r[3], R[9], *c = g->centre + 3 * (size_t)i;
        if (!near->side[(size_t)x->rule * (size_t)near->nshapes + (size_t)i]) continue;
        carom_body_pose(s->body, x->q, r, R);
        for (int j = 0; j < 3; ++j) c[j] = r[j] + carom_dot(R + 3 * j, s->at, 3);
        if (!carom_shape_finite(s)) continue;
        for (int j = 0; j < 3; ++j) low[j] = fmin(low[j], c[j]), high[j] = fmax(high[j], c[j]);
        g->order[n++] = (group_place){.x = c[0], .shape = i};
        *widest = fmax(*widest, s->bound_radius);
    }
    return n;
}

// Which cell holds a number: those far away share the last one.
static int cell_of(double x) { return (int)fmin(floor(x), 1e9); }

// Shapes in columns along x with these edges in y and z, each column in the order of x.
static void put_in_columns(const closest *x, int n, const double *low, double edge) {
    const contact_groups *g = x->g;
    for (int i = 0; i < n; ++i) {
        const double *c = g->centre + 3 * (size_t)g->order[i].shape;
        g->order[i].row = cell_of((c[1] - low[1]) / edge), g->order[i].column = cell_of((c[2] - low[2]) / edge);
    }
    qsort(g->order, (size_t)n, sizeof *g->order, by_place);
}

// (SHP-10)  the distance of the balls that hold two shapes, or of a ball and a plane
static double at_least(const closest *x, int a, int b) {
    const shape *A = x->g->model->near->shape[a], *B = x->g->model->near->shape[b];
    const double *c = x->g->centre + 3 * (size_t)a, *d = x->g->centre + 3 * (size_t)b,
                 way[3] = {c[0] - d[0], c[1] - d[1], c[2] - d[2]};
    if (carom_shape_finite(B)) return sqrt(carom_dot(way, way, 3)) - A->bound_radius - B->bound_radius;
    if (B->kind != SHAPE_PLANE) return -HUGE_VAL;
    double r[3], R[9], n[3];
    carom_body_pose(B->body, x->q, r, R);
    for (int j = 0; j < 3; ++j) n[j] = R[3 * j] * B->X[0] + R[3 * j + 1] * B->X[3] + R[3 * j + 2] * B->X[6];
    return carom_dot(n, way, 3) - A->bound_radius;
}

static bool comes_before(const group_place *a, int row, int column, double place) {
    if (a->row != row) return a->row < row;
    if (a->column != column) return a->column < column;
    return a->x < place;
}

// Pairs with gaps of at most d: every shape with those behind it in its own column, and with those of the four
// neighbours that come later in order.  Where these begin moves on as the shape does: both follow by_place().
static void compare_columns(closest *x, int n, double widest, double d) {
    static const int next[4][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}};
    const struct near_pairs *near = x->g->model->near;
    const group_place *at = x->g->order;
    int from[4] = {0};
    for (int i = 0; i < n; ++i) {
        const double reach = near->shape[at[i].shape]->bound_radius + widest;
        for (int w = -1; w < 4; ++w) {
            const int row = at[i].row + (w < 0 ? 0 : next[w][0]), column = at[i].column + (w < 0 ? 0 : next[w][1]);
            while (w >= 0 && from[w] < n && comes_before(&at[from[w]], row, column, at[i].x - 2 * widest - d))
                ++from[w];
            for (int k = w < 0 ? i + 1 : from[w]; k < n && at[k].row == row && at[k].column == column; ++k) {
                if (at[k].x - at[i].x - reach >= fmin(x->gap, d)) break;
                if (at_least(x, at[i].shape, at[k].shape) < x->gap) compare(x, at[i].shape, at[k].shape);
            }
        }
    }
}

// The least gap of a rule, where the contacts of the list have none that is less than x->gap.  Shapes that touch are in
// the list.
static void find_closest(closest *x) {
    const struct near_pairs *near = x->g->model->near;
    const group_place *at = x->g->order;
    double widest, low[3], high[3];
    if (x->gap <= 0) return;
    const int n = place_shapes(x, &widest, low, high);
    for (int b = 0; b < near->nshapes; ++b) { // the nearest one first: then few others are compared
        int first = -1;
        double least = HUGE_VAL;
        if (!near->side[(size_t)x->rule * (size_t)near->nshapes + (size_t)b] || carom_shape_finite(near->shape[b]))
            continue;
        for (int i = 0; i < n; ++i) {
            const double d = at_least(x, at[i].shape, b);
            if (d < least) first = at[i].shape, least = d;
        }
        if (first >= 0) compare(x, first, b);
        for (int i = 0; i < n; ++i)
            if (at[i].shape != first && at_least(x, at[i].shape, b) < x->gap) compare(x, at[i].shape, b);
    }
    if (n < 2) return;
    // (SHP-23)  Columns with edges 2 R_max + d and their neighbours hold every pair with a gap of at most d.  Where the
    //           least gap is larger, d doubles, until all shapes are in one.
    const double spread = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    for (double d = fmin(x->gap, widest > 0 ? 2 * widest : spread / cbrt(n));; d = fmin(2 * d, x->gap)) {
        put_in_columns(x, n, low, fmax(2 * widest + d, DBL_MIN));
        compare_columns(x, n, widest, d);
        if (x->gap <= d || !(d < spread)) return;
    }
}

// -- values -----------------------------------------------------------------------------------------------------------

// What contact id adds to a group; u NULL: rates are not its.  there: no condition is against it.
static void take(contact_groups *g, int group, double gap, const double *u, const double *f, bool there) {
    const contact_group *x = &g->list[group];
    double *rate = g->rate + ROWS * group, *force = g->force + ROWS * group;
    if (gap < g->gap[group]) {
        g->gap[group] = gap;
        for (int k = 0; u && k < rows_of(x); ++k) rate[k] = u[k];
    }
    for (int k = 0; k < rows_of(x); ++k) force[k] += f ? f[k] : NAN;
    g->closed[group] += there && (gap <= 0 || (f && f[0] > 0));
}

// Groups whose contacts come and go: of pairs that are far away, too.
static void look_far(contact_groups *g, void *work, const carom_now *now, int i) {
    const carom_model *m = g->model;
    contact_group *x = &g->list[i];
    double u[ROWS];
    pair p;
    if (x->kind == CAROM_GROUP_CONTACT && listed_pair(m, x->rule, x->a, x->b, &p) >= 0) {
        const double gap = gap_of(g, work, now->t, now->q, now->v, &p, x->part, 1 + x->tangents, u);
        g->gap[i] = gap;
        carom_copy(g->rate + ROWS * i, u, 1 + x->tangents);
    }
    for (int rule = 0; x->kind == CAROM_GROUP_PAIR && rule < m->near->nrules; ++rule)
        for (int a = x->a; a <= x->a + m->shapes[x->a].parts; ++a)
            for (int b = x->b; b <= x->b + m->shapes[x->b].parts; ++b) {
                if (listed_pair(m, rule, a, b, &p) < 0) continue;
                const double gap = gap_of(g, work, now->t, now->q, now->v, &p, -1, rows_of(x), u);
                if (gap > g->gap[i]) continue;
                g->gap[i] = gap;
                carom_copy(g->rate + ROWS * i, u, rows_of(x));
            }
    const int rule = x->kind == CAROM_GROUP_ENTRY ? carom_model_entry_rule(m, x->entry) : -1;
    if (rule < 0) return;
    closest c = {.g = g, .work = work, .q = now->q, .rule = rule, .gap = g->gap[i]};
    find_closest(&c);
    g->gap[i] = c.gap;
}

// Shapes of a group of which no contact shows a distance: one is inside the other, or behind a rail.
typedef struct hidden { const contact_groups *g; void *work; const carom_now *now; int group; } hidden;

static carom_status find_hidden(void *user, const contour_pair *p) {
    const hidden *h = user;
    const contact_group *x = &h->g->list[h->group];
    const shape *s = h->g->model->shapes;
    const bool is = x->kind == CAROM_GROUP_ENTRY
                        ? strcmp(p->entry->name.text, x->name) == 0
                        : x->kind == CAROM_GROUP_PAIR &&
                              ((p->a == s + x->a && p->b == s + x->b) || (p->a == s + x->b && p->b == s + x->a));
    if (is)
        h->g->gap[h->group] = fmin(h->g->gap[h->group],
                                   carom_contours_gap(h->g->model, h->work, p->a, p->b, h->now->t, h->now->q));
    return CAROM_OK;
}

void carom_groups_fill(contact_groups *g, void *work, const carom_now *now, const carom_system *sys, const double *gap,
                       const double *u, const double *lasting, const double *sum) {
    const carom_model *m = g->model;
    const int own = sys->ne + sys->nc - sys->listed;
    for (int i = 0; i < g->n; ++i) g->gap[i] = HUGE_VAL, g->closed[i] = 0, g->nu[i] = lasting ? 0 : NAN;
    carom_zero(g->rate, (ptrdiff_t)ROWS * g->n);
    carom_zero(g->force, (ptrdiff_t)ROWS * g->n);
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id) {
        const double x = id < own ? gap[id] : now->gap[id];
        int of[3];
        if ((id >= own && !(x < HUGE_VAL)) || !groups_of(g, work, id, of)) continue;
        for (int i = 0; i < 3; ++i)
            if (of[i] >= 0)
                take(g, of[i], i == 2 || !(x < g->gap[of[i]]) || carom_contours_show(m, work, id, x, now->t, now->q)
                                    ? x
                                    : HUGE_VAL,
                     id < own ? u + now->dir[id] : NULL, lasting ? lasting + now->dir[id] : NULL,
                     !(m->condition.system && now->gap[id] == m->condition.system->gap));
        if (of[2] >= 0 && lasting && now->nu) g->nu[of[2]] = now->nu[now->dir[id]];
    }
    for (int i = 0; i < g->n && m->near; ++i) look_far(g, work, now, i);
    for (int i = 0; i < g->n; ++i) {
        if (!(g->gap[i] < HUGE_VAL) && m)
            carom_contours_each(m, NULL, find_hidden, &(hidden){g, work, now, i});
        if (!(g->gap[i] < HUGE_VAL)) g->gap[i] = NAN;
        for (int k = 0; k < ROWS; ++k) {
            const double scale = g->list[i].scale[k];
            g->rate[ROWS * i + k] /= scale;
            g->force[ROWS * i + k] *= scale;
            g->impulse[ROWS * i + k] = sum ? scale * sum[ROWS * i + k] : NAN;
        }
    }
}
