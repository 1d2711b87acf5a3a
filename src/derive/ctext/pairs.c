// pairs.c: contacts between shapes in the C text of a model.
//
// Pairs of equal shapes share functions, which get the positions and velocities of two bodies; each pair is a row of a
// table.  A pair with a tape of its own is a kind of its own, whose functions get all positions.  As in the library, a
// pair that is farther apart than its margin answers with a bound of its gaps.
#include "derive/ctext/ctext.h"
#include <math.h>

static const struct { const char *name; pair_group group; } answers[] = {
    {"gaps", PAIR_GAPS}, {"directions", PAIR_DIRECTIONS}, {"rates", PAIR_RATES}, {"curvature", PAIR_CURVATURE}};
enum { ANSWERS = sizeof answers / sizeof *answers };

// -- subscripts -------------------------------------------------------------------------------------------------------

int carom_ctext_pair_entries(const ctext *c) {
    int n = 0;
    for (int i = 0; i < c->m->npairs; ++i)
        if (c->m->pairs[i].shares) n += c->m->kinds[c->m->pairs[i].kind].two->W.n;
    return n;
}

void carom_ctext_pair_subscripts(const ctext *c, int which, int n) {
    const carom_model *m = c->m;
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        if (!p->shares) continue;
        const pair_kind *k = &m->kinds[p->kind];
        for (int e = 0; e < k->two->W.n; ++e)
            PUT(c, "%s%d", n++ ? ", " : "",
                which == 0 ? carom_kind_velocity(k, p, k->two->W.i[e]) : m->links[p->first].dir + k->two->W.j[e]);
    }
}

// -- functions of kinds -----------------------------------------------------------------------------------------------

static void kind_input(void *user, carom_input kind, int i, char text[CAROM_SLOT_NAME]) {
    (void)user;
    if (kind == CAROM_TIME) strcpy(text, "t");
    else
        snprintf(text, CAROM_SLOT_NAME, "%c[%d]", kind == CAROM_POSITION ? 'q' : kind == CAROM_VELOCITY ? 'v' : 'p', i);
}

static carom_status put_kind(const ctext *c, const carom_tape *tape, const char *name, carom_slot_name *names,
                             carom_error *err) {
    for (int a = 0; a < ANSWERS; ++a) {
        char head[200];
        snprintf(head, sizeof head, "static void %.60s_%s" CTEXT_ARGUMENTS, name, answers[a].name);
        CAROM_TRY(carom_ctext_function(c, tape, answers[a].group, names, head, err));
        put(c, "\n");
    }
    return CAROM_OK;
}

static const char *shape_word(shape_kind kind) {
    static const char *const word[] = {[SHAPE_POINT] = "point",
                                       [SHAPE_ROUND] = "ball or disk",
                                       [SHAPE_CAPSULE] = "capsule",
                                       [SHAPE_POLYGON] = "polygon",
                                       [SHAPE_BOX] = "box",
                                       [SHAPE_CYLINDER] = "cylinder",
                                       [SHAPE_HULL] = "hull",
                                       [SHAPE_HEIGHTS] = "height field",
                                       [SHAPE_ELLIPSOID] = "ellipsoid",
                                       [SHAPE_LINE] = "line of an outline",
                                       [SHAPE_ARC] = "arc of an outline",
                                       [SHAPE_HOLLOW] = "concave arc of an outline",
                                       [SHAPE_ELEMENT] = "element of a member",
                                       [SHAPE_PLANE] = "plane",
                                       [SHAPE_HOLE] = "hole",
                                       [SHAPE_SLOT] = "slot",
                                       [SHAPE_BORE] = "bore",
                                       [SHAPE_SKIN] = "skin"};
    return word[kind] ? word[kind] : "shape";
}

static void put_kind_row(const ctext *c, const char *name, bool whole, const pair_kind *k, bool last) {
    if (whole)
        PUT(c, "    {true, {0, 0}, {0, 0}, %s_gaps, %s_directions, %s_rates, %s_curvature}%s", name, name, name, name,
            last ? "" : ",\n");
    else
        PUT(c, "    {false, {%d, %d}, {%d, %d}, %s_gaps, %s_directions, %s_rates, %s_curvature}%s", k->nq[0], k->nq[1],
            k->nv[0], k->nv[1], name, name, name, name, last ? "" : ",\n");
}

static bool rings(const carom_tape *tape) {
    for (int s = 0; s < tape->nsegments; ++s)
        for (int k = 0; k < tape->segment[s].count; ++k)
            if (carom_native_of_pairs(tape->code[tape->segment[s].first + k].op)) return true;
    return false;
}

static const carom_tape *kind_tape(const pair_kind *k) { return k->patch ? NULL : k->two->pairs->own->tape; }

carom_status carom_ctext_kind(const ctext *c, int k, const char *name, carom_error *err) {
    const pair_kind *of = &c->m->kinds[k];
    PUT(c, "// Kind %d: %s and %s.\n", k, shape_word(of->first->A->kind), shape_word(of->first->B->kind));
    return put_kind(c, kind_tape(of), name, kind_input, err);
}

static bool needs_rings(const carom_model *m) {
    if (rings(m->tape)) return true;
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares && rings(m->pairs[i].own->tape)) return true;
    for (int i = 0; i < m->nkinds; ++i)
        if (kind_tape(&m->kinds[i]) && rings(kind_tape(&m->kinds[i]))) return true;
    return false;
}

static const char ask_text[] =
    "\n// A function of pair i.  Kinds that are shared have positions and velocities of two bodies, and sizes for "
    "parameters.\n"
    "static void ask(int i, pair_function *f, double t, const double *q, const double *v, const double *p, double "
    "*out) {\n"
    "    double at[14], rate[12], *a = at, *b = rate;\n"
    "    if (kinds[pairs[i].kind].whole) {\n"
    "        f(t, q, v, p, out);\n"
    "        return;\n"
    "    }\n"
    "    for (int k = 0; k < 2; ++k) {\n"
    "        for (int j = 0; j < kinds[pairs[i].kind].nq[k]; ++j) *a++ = q[pairs[i].q[k] + j];\n"
    "        for (int j = 0; j < kinds[pairs[i].kind].nv[k]; ++j) *b++ = v[pairs[i].v[k] + j];\n"
    "    }\n"
    "    f(0, at, rate, pairs[i].size, out);\n"
    "}\n\n";

static void put_pair(const ctext *c, int i, int kind, int *entry, bool last) {
    const carom_model *m = c->m;
    const pair *p = &m->pairs[i];
    const constraint *x = &m->links[p->first];
    double size[MOST_SIZES] = {0};
    if (p->shares) carom_kind_sizes(&m->kinds[p->kind], p, size);
    const int at = p->shares ? m->W.n + *entry : p->own->from.W,
              entries = p->shares ? m->kinds[p->kind].two->W.n : p->own->to.W - p->own->from.W;
    if (p->shares) *entry += entries;
    PUT(c, "    {%d, {%d, %d}, {%d, %d}, %d, %d, %d, %d, ", kind, p->q_at[0], p->q_at[1], p->v_at[0], p->v_at[1],
        p->first, p->count, x->dir, x->ndir);
    PUT(c, "%d, %d, %d, %d, ", at, entries, p->shares ? 0 : p->own->from.w,
        p->shares ? 0 : p->own->to.w - p->own->from.w);
    carom_ctext_number(c, p->own->bound == CAROM_NONE ? INFINITY : p->own->margin);
    put(c, ", {");
    for (int k = 0; k < MOST_SIZES; ++k) put(c, k ? ", " : ""), carom_ctext_number(c, size[k]);
    PUT(c, "}}%s // %.80s, %.80s\n", last ? "" : ",", p->A->name, p->B->name);
}

carom_status carom_ctext_pairs(const ctext *c, carom_error *err) {
    const carom_model *m = c->m;
    if (needs_rings(m)) put(c, carom_ring_text), put(c, "\n");
    if (m->npairs == 0) return CAROM_OK;
    put(c, "// -- contacts between shapes "
           "-----------------------------------------------------------------------------------------\n\n");
    char name[40];
    int nkinds = 0;
    for (int k = 0; k < m->nkinds; ++k) {
        if (m->kinds[k].first->listed) continue;
        snprintf(name, sizeof name, "kind%d", k);
        CAROM_TRY(carom_ctext_kind(c, k, name, err));
        nkinds = k + 1;
    }
    for (int i = 0; i < m->npairs; ++i) {
        if (m->pairs[i].shares) continue;
        snprintf(name, sizeof name, "pair%d", i);
        CAROM_TRY(put_kind(c, m->pairs[i].own->tape, name, carom_ctext_input, err));
    }
    put(c, "typedef void pair_function" CTEXT_ARGUMENTS ";\n"
           "static const struct { bool whole; int nq[2], nv[2]; pair_function *gaps, *directions, *rates, *curvature; "
           "} kinds[] = {\n");
    for (int k = 0; k < nkinds; ++k) {
        snprintf(name, sizeof name, "kind%d", k);
        put_kind_row(c, name, false, &m->kinds[k], false);
    }
    for (int i = 0; i < m->npairs; ++i) {
        if (m->pairs[i].shares) continue;
        snprintf(name, sizeof name, "pair%d", i);
        put_kind_row(c, name, true, NULL, false);
    }
    put(c, "};\n\n// Kind; positions and velocities of two bodies; first contact, contacts; first direction, "
           "directions of each; entries of W and w; margin; sizes.\n"
           "static const struct { int kind, q[2], v[2], contact, contacts, direction, directions, entry, entries, w, "
           "ws; double margin, size[8]; } pairs[] = {\n");
    for (int i = 0, whole = nkinds, entry = 0; i < m->npairs; ++i)
        put_pair(c, i, m->pairs[i].shares ? m->pairs[i].kind : whole++, &entry, i + 1 == m->npairs);
    PUT(c, "};\nenum { npairs = %d };\n", m->npairs);
    put(c, ask_text);
    CAROM_TRY(carom_ctext_function(c, m->tape, GROUP_BOUNDS, carom_ctext_input,
                                   "static void own_bounds" CTEXT_ARGUMENTS, err));
    put(c, "\n");
    return carom_ctext_function(c, m->tape, GROUP_BOUND_RATES, carom_ctext_input,
                                "static void own_bound_rates" CTEXT_ARGUMENTS, err);
}

// -- functions of all -------------------------------------------------------------------------------------------------

static void put_gaps(const ctext *c) {
    PUT(c, "void %.100s_gaps" CTEXT_ARGUMENTS " {\n    double bound[npairs];\n", c->prefix);
    put(c,
        "    own_gaps(t, q, v, p, out);\n    own_bounds(t, q, v, p, bound);\n    for (int i = 0; i < npairs; ++i) {\n"
        "        if (bound[i] > pairs[i].margin)\n            for (int k = 0; k < pairs[i].contacts; ++k) "
        "out[pairs[i].contact + k] = bound[i];\n"
        "        else ask(i, kinds[pairs[i].kind].gaps, t, q, v, p, out + pairs[i].contact);\n    }\n}\n");
}

static void put_rates(const ctext *c) {
    PUT(c, "void %.100s_rates" CTEXT_ARGUMENTS " {\n    double bound[npairs], rate[npairs];\n", c->prefix);
    put(c, "    own_rates(t, q, v, p, out);\n    own_bounds(t, q, v, p, bound);\n    own_bound_rates(t, q, v, p, "
           "rate);\n    for (int i = 0; i < npairs; ++i) {\n"
           "        const int n = pairs[i].directions;\n"
           "        if (bound[i] > pairs[i].margin)\n            for (int k = 0; k < n * pairs[i].contacts; ++k) "
           "out[pairs[i].direction + k] = k % n ? 0 : rate[i];\n"
           "        else ask(i, kinds[pairs[i].kind].rates, t, q, v, p, out + pairs[i].direction);\n    }\n}\n");
}

static void put_curvature(const ctext *c) {
    PUT(c, "void %.100s_curvature" CTEXT_ARGUMENTS " {\n", c->prefix);
    put(c, "    own_curvature(t, q, v, p, out);\n    for (int i = 0; i < npairs; ++i) ask(i, "
           "kinds[pairs[i].kind].curvature, t, q, v, p, out + pairs[i].direction);\n}\n");
}

// Entries of W and of w; w of all stands behind W of all.
static void put_directions(const ctext *c) {
    const carom_model *m = c->m;
    int most = 1;
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares) {
            const pair_own *x = m->pairs[i].own;
            const int n = x->to.W - x->from.W + x->to.w - x->from.w;
            most = n > most ? n : most;
        }
    const int W = m->W.n + carom_ctext_pair_entries(c);
    PUT(c, "void %.100s_directions" CTEXT_ARGUMENTS " {\n    double both[%d];\n    own_directions(t, q, v, p, out);\n",
        c->prefix, most);
    PUT(c, "    for (int e = %d; e >= 0; --e) out[%d + e] = out[%d + e];\n", m->own.w - 1, W, m->own.W);
    put(c, "    for (int i = 0; i < npairs; ++i) {\n        double *to = pairs[i].ws ? both : out + pairs[i].entry;\n  "
           "      ask(i, kinds[pairs[i].kind].directions, t, q, v, p, to);\n"
           "        if (pairs[i].ws == 0) continue;\n        for (int e = 0; e < pairs[i].entries; ++e) "
           "out[pairs[i].entry + e] = both[e];\n");
    PUT(c,
        "        for (int e = 0; e < pairs[i].ws; ++e) out[%d + pairs[i].w + e] = both[pairs[i].entries + e];\n    "
        "}\n}\n",
        W);
}

bool carom_ctext_with_pairs(const ctext *c, const char *name, bool write) {
    static const struct {
        const char *name;
        void (*put)(const ctext *c);
    } all[] = {{"gaps", put_gaps}, {"directions", put_directions}, {"rates", put_rates}, {"curvature", put_curvature}};
    for (size_t k = 0; c->m->npairs && k < sizeof all / sizeof *all; ++k)
        if (strcmp(all[k].name, name) == 0) {
            if (write) all[k].put(c);
            return true;
        }
    return false;
}
