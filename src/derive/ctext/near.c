// near.c: pairs of shapes that come and go, in the C text of a model.
//
// Which shapes are near each other is the caller's to find.  The text has the shapes, what two of them make by each
// entry of `contacts` (a kind of pair), and functions of a kind for any two of its shapes.  Contacts that the library
// finds by search are found by its own code.
#include "derive/ctext/ctext.h"
#include <math.h>

// -- what is refused --------------------------------------------------------------------------------------------------

static carom_status no(const carom_model *m, const char *what, carom_error *err) {
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s has %s in a dynamic contact list, which `export c` does not support", m->file, what);
}

carom_status carom_ctext_refuse_pairs(const carom_model *m, carom_error *err) {
    const struct near_pairs *x = m->near;
    if (!x) return CAROM_OK;
    if (x->yields) return no(m, "contacts with a stiffness", err);
    if (x->nbelts) return no(m, "surface velocities", err);
    for (int k = 0; k < x->npairs; ++k) {
        const carom_contact *c = &x->law[k];
        if (c->varies || c->friction_varies || c->impact || c->sequential)
            return no(m, "laws of impact other than Newton's, or restitution or friction that varies", err);
    }
    return CAROM_OK;
}

// -- solids -----------------------------------------------------------------------------------------------------------

// Lines of a source but for those that include others.
static void put_source(const ctext *c, const char *text) {
    for (const char *end; *text; text = end) {
        end = strchr(text, '\n') ? strchr(text, '\n') + 1 : text + strlen(text);
        if (strncmp(text, "#include \"", 10) != 0 && strncmp(text, "#pragma once", 12) != 0)
            c->write(c->user, text, (size_t)(end - text));
    }
    put(c, "\n");
}

static void put_search(const ctext *c) {
    static const char *const all[] = {carom_three_h_text, carom_hull_text,   carom_patch_h_text,  carom_posed_h_text,
                                      carom_choose_text,  carom_thin_text,   carom_surface_text,  carom_smooth_text,
                                      carom_place_text,   carom_patch_text,  carom_rotation_text, carom_touch_text};
    put(c, "#include <string.h>\n");
    if (!c->m->nmember) put(c, "#define TABLE const\n");
    put(c, "#define CAROM_PART static\n\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) put_source(c, all[i]);
}

static bool same_numbers(const void *a, const void *b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static bool same_hull(const carom_hull *a, const carom_hull *b) {
    return a == b || (a->nv == b->nv && a->nf == b->nf && a->ne == b->ne &&
                      same_numbers(a->v, b->v, (size_t)a->nv * sizeof *a->v) &&
                      same_numbers(a->normal, b->normal, (size_t)a->nf * sizeof *a->normal) &&
                      same_numbers(a->offset, b->offset, (size_t)a->nf * sizeof *a->offset) &&
                      same_numbers(a->edge, b->edge, (size_t)a->ne * sizeof *a->edge) &&
                      (a->nf == 0 || (same_numbers(a->face_at, b->face_at, (size_t)(a->nf + 1) * sizeof *a->face_at) &&
                                      same_numbers(a->face, b->face, (size_t)a->face_at[a->nf] * sizeof *a->face))));
}

// The first shape with the same hull.
static int hull_of(const struct near_pairs *x, int i) {
    for (int k = 0; k < i; ++k)
        if (x->group[k] >= 0 && x->shape[k]->hull && same_hull(x->shape[k]->hull, x->shape[i]->hull)) return k;
    return i;
}

// name[][width] = {{...}, ...}
static void put_vectors(const ctext *c, int i, const char *name, const double (*x)[3], int n) {
    PUT(c, "static const double hull%d_%s[][3] = {", i, name);
    for (int k = 0; k < n; ++k) PUT(c, "%s{%.17g, %.17g, %.17g}", k ? ", " : "", x[k][0], x[k][1], x[k][2]);
    put(c, n ? "};\n" : "{0}};\n");
}

static void put_hull(const ctext *c, int i, const carom_hull *h) {
    char begin[80];
    put_vectors(c, i, "v", (const double (*)[3])h->v, h->nv);
    put_vectors(c, i, "normal", (const double (*)[3])h->normal, h->nf);
    snprintf(begin, sizeof begin, "static const double hull%d_offset[] = ", i);
    carom_ctext_doubles(c, begin, h->offset, (size_t)h->nf);
    snprintf(begin, sizeof begin, "static const int hull%d_face_at[] = ", i);
    carom_ctext_ints(c, begin, h->face_at, h->face_at ? (size_t)h->nf + 1 : 0);
    snprintf(begin, sizeof begin, "static const int hull%d_face[] = ", i);
    carom_ctext_ints(c, begin, h->face, h->face_at ? (size_t)h->face_at[h->nf] : 0);
    PUT(c, "static const int hull%d_edge[][4] = {", i);
    for (int k = 0; k < h->ne; ++k)
        PUT(c, "%s{%d, %d, %d, %d}", k ? ", " : "", h->edge[k][0], h->edge[k][1], h->edge[k][2], h->edge[k][3]);
    put(c, h->ne ? "};\n" : "{0}};\n");
    PUT(c,
        "static const carom_hull hull%d = {%d, %d, %d, hull%d_v, hull%d_normal, hull%d_offset, hull%d_face_at, "
        "hull%d_face, hull%d_edge};\n",
        i, h->nv, h->nf, h->ne, i, i, i, i, i, i);
}

static void put_grid(const ctext *c, int i, const carom_grid *g) {
    char begin[80];
    const size_t n = (size_t)g->nx * (size_t)g->ny;
    snprintf(begin, sizeof begin, "static const int grid%d_edges[] = ", i);
    carom_ctext_ints(c, begin, g->edges, 3 * n);
    snprintf(begin, sizeof begin, "static const int grid%d_star[] = ", i);
    carom_ctext_ints(c, begin, g->star, 6 * n);
    PUT(c, "static const carom_grid grid%d = {%d, %d, %.17g, %.17g, %.17g, %.17g, grid%d_edges, grid%d_star};\n", i,
        g->nx, g->ny, g->x, g->y, g->dx, g->dy, i, i);
}

static bool is_solid(const struct near_pairs *x, int i) { return x->group[i] >= 0 && x->shape[i]->hull; }

// Solids of shapes, and where those are that stand still.
static void put_solids(const ctext *c) {
    const struct near_pairs *x = c->m->near;
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        if (!is_solid(x, i)) continue;
        if (hull_of(x, i) == i) put_hull(c, i, s->hull);
        if (s->grid) put_grid(c, i, s->grid);
    }
    put(c, "\n// Solids of shapes: half axes and axes of ellipsoids; place and rotation of what stands still.\n"
           "static const struct { const carom_hull *hull; double radius; const carom_grid *grid; bool ellipsoid; "
           "double axes[3], X[9]; carom_frame still; } solid[] = {");
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        put(c, i ? ",\n    {" : "\n    {");
        if (!is_solid(x, i)) {
            put(c, "0, 0, 0, false, {0}, {0}, {{0}, {0}}}");
            continue;
        }
        PUT(c, "&hull%d, %.17g, ", hull_of(x, i), s->kind == SHAPE_ROUND || s->kind == SHAPE_CAPSULE ? s->radius : 0);
        if (s->grid) PUT(c, "&grid%d, ", i);
        else put(c, "0, ");
        PUT(c, "%s, {%.17g, %.17g, %.17g}, {", s->kind == SHAPE_ELLIPSOID ? "true" : "false", s->half[0], s->half[1],
            s->half[2]);
        for (int k = 0; k < 9; ++k) PUT(c, "%s%.17g", k ? ", " : "", s->X[k]);
        put(c, "}, {{");
        for (int k = 0; k < 3; ++k) PUT(c, "%s%.17g", k ? ", " : "", s->body->v < 0 ? s->body->r0[k] : 0);
        put(c, "}, {");
        for (int k = 0; k < 9; ++k) PUT(c, "%s%.17g", k ? ", " : "", s->body->v < 0 ? s->body->R0[k] : 0);
        put(c, "}}}");
    }
    put(c, "};\n\n");
}

// -- shapes, rules, kinds ---------------------------------------------------------------------------------------------

// Sizes of a shape: pieces of outlines have many numbers.
static int most_sizes(const struct near_pairs *x) {
    int most = 4;
    for (int i = 0; i < x->nshapes; ++i)
        if (x->group[i] >= 0 && x->shape[i]->piece) most = PIECE_NUMBERS;
    return most;
}

static void put_shapes(const ctext *c) {
    const struct near_pairs *x = c->m->near;
    PUT(c,
        "// Shapes: number of the body, its first position and velocity (-1: it stands still); group (-1: it touches "
        "nothing); centre in the frame of the body, radius round it; sizes.\n"
        "const struct { const char *name; int body, q, v, group; double at[3], radius, size[%d]; } %.100s_shape[] = {",
        most_sizes(x), c->prefix);
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        const body *b = s->body;
        const bool moves = b && b->v >= 0, round = s->kind == SHAPE_ROUND;
        PUT(c, "%s\n    {\"%.100s\", %d, %d, %d, %d, {%.17g, %.17g, %.17g}, ", i ? "," : "", s->name,
            b ? (int)(b - c->m->bodies) : -1, moves ? b->orientation - (b->space == SPATIAL ? 3 : 2) : -1,
            moves ? b->v : -1, x->group[i], s->at[0], s->at[1], s->at[2]);
        carom_ctext_number(c, s->bound_radius);
        put(c, ", {");
        for (int k = 0; k < PIECE_NUMBERS && s->piece; ++k)
            put(c, k ? ", " : ""), carom_ctext_number(c, s->piece->x[k]);
        for (int k = 0; k < 3 && !s->piece; ++k) carom_ctext_number(c, round ? s->radius : s->half[k]), put(c, ", ");
        if (!s->piece) carom_ctext_number(c, s->bound_radius);
        put(c, "}}");
    }
    put(c, "};\n\n");
}

static void put_bytes(const ctext *c, const unsigned char *x, size_t n) {
    for (size_t i = 0; i < n; ++i) PUT(c, "%s%d", i ? ", " : "", x[i]);
    put(c, n ? "};\n" : "0};\n");
}

static void put_rules(const ctext *c) {
    const struct near_pairs *x = c->m->near;
    const size_t n = (size_t)x->nshapes;
    put_source(c, carom_meet_text);
    put(c, "static const unsigned char side[] = {"), put_bytes(c, x->side, (size_t)x->nrules * n);
    for (int i = 0; i < x->nrules; ++i)
        if (x->rule[i].nignored) {
            PUT(c, "static const unsigned char ignore%d[] = {", i);
            put_bytes(c, x->rule[i].ignore, (size_t)x->rule[i].nignored * n);
        }
    put(c, "static const struct { const unsigned char *ignore; int nignored; } rules[] = {");
    for (int i = 0; i < x->nrules; ++i) {
        put(c, i ? ", " : "");
        if (x->rule[i].nignored) PUT(c, "{ignore%d, %d}", i, x->rule[i].nignored);
        else put(c, "{0, 0}");
    }
    put(c, "};\n");
    carom_ctext_ints(c, "static const int kind_of[] = ", x->kind,
                     (size_t)x->nrules * (size_t)x->ngroups * (size_t)x->ngroups);
    PUT(c, "enum { %.100s_nshapes = %d, %.100s_nrules = %d };\n\n", c->prefix, x->nshapes, c->prefix, x->nrules);
    put(c, "// The kind of pair that shapes a and b make by a rule (an entry of `contacts`), -1: none.  They are put "
           "in the order that the functions of pairs want.\n");
    PUT(c,
        "int %.100s_pair(int rule, int *a, int *b) {\n    const int i = *a, j = *b, v = %.100s_shape[i].v, w = "
        "%.100s_shape[j].v, ",
        c->prefix, c->prefix, c->prefix);
    PUT(c, "g = %.100s_shape[i].group, h = %.100s_shape[j].group;\n", c->prefix, c->prefix);
    PUT(c, "    if (%.100s_shape[i].body == %.100s_shape[j].body || (v < 0 && w < 0) || g < 0 || h < 0) return -1;\n",
        c->prefix, c->prefix);
    PUT(c, "    if (!shapes_meet(side + rule * %d, rules[rule].ignore, rules[rule].nignored, %d, i, j)) return -1;\n",
        x->nshapes, x->nshapes);
    PUT(c,
        "    const bool swap = w >= 0 && (v < 0 || w < v);\n    if (swap) *a = j, *b = i;\n    return kind_of[(rule * "
        "%d + (swap ? h : g)) * %d + (swap ? g : h)];\n}\n\n",
        x->ngroups, x->ngroups);
}

static void put_grain(const ctext *c, const pair *p, bool patch) {
    const ellipse *e = patch ? p->own->rub.ellipse : NULL;
    if (!e) {
        put(c, ", {{0}, {0}, 0}");
        return;
    }
    PUT(c, ", {{%.17g, %.17g}, {%.17g, %.17g, %.17g}, %d}", e->factor[0], e->factor[1], e->direction[0],
        e->direction[1], e->direction[2], carom_patch_grain(c->m, p));
}

static carom_status put_kinds(const ctext *c, bool patches, bool *tapes, carom_error *err) {
    const carom_model *m = c->m;
    const struct near_pairs *x = m->near;
    char name[40];
    for (int k = 0; k < m->nkinds; ++k) {
        if (!m->kinds[k].first->listed || m->kinds[k].patch) continue;
        *tapes = true;
        snprintf(name, sizeof name, "kind%d", k);
        CAROM_TRY(carom_ctext_kind(c, k, name, err));
    }
    PUT(c,
        "// Kinds of pairs: contacts, directions of each; entries of W, of which the subscripts start there in kind_i "
        "and kind_j; laws.\n"
        "const struct { int contacts, directions, entries, first; double restitution, friction; } %.100s_kind[] = {",
        c->prefix);
    for (int k = 0, first = 0; k < x->npairs; ++k) {
        const pair *p = &x->pairs[k];
        const carom_model *two = m->kinds[p->kind].two;
        PUT(c, "%s{%d, %d, %d, %d, %.17g, %.17g}", k ? ", " : "", p->count, two->links->ndir, two->W.n, first,
            x->law[k].restitution, x->law[k].friction);
        first += two->W.n;
    }
    for (int which = 0; which < 2; ++which) {
        PUT(c, "};\nconst int %.100s_kind_%c[] = {", c->prefix, "ij"[which]);
        for (int k = 0, n = 0; k < x->npairs; ++k) {
            const carom_model *two = m->kinds[x->pairs[k].kind].two;
            for (int d = 0; d < two->ndir; ++d)
                for (int e = two->place.W[d]; e < two->place.W[d + 1]; ++e)
                    PUT(c, "%s%d", n++ ? ", " : "", which ? d : two->W.i[e]);
        }
    }
    put(c, "};\n");
    carom_ctext_ellipses(c, "kind", x->law, x->npairs);
    put(c, "\n");
    if (*tapes && m->npairs == 0) put(c, "typedef void pair_function" CTEXT_ARGUMENTS ";\n");
    put(c, "static const struct { int nq[2], nv[2], sized[2]; bool patch; double roll, spin;");
    if (patches) put(c, " touch_grain grain;");
    put(c, *tapes ? " pair_function *gaps, *directions, *rates, *curvature; } near[] = {" : " } near[] = {");
    for (int k = 0; k < x->npairs; ++k) {
        const pair *p = &x->pairs[k];
        const pair_kind *of = &m->kinds[p->kind];
        const int sizes[2] = {of->sized[0] ? carom_shape_sizes(p->A) : 0, of->sized[1] ? carom_shape_sizes(p->B) : 0};
        PUT(c, "%s\n    {{%d, %d}, {%d, %d}, {%d, %d}, %d, %.17g, %.17g", k ? "," : "", of->nq[0], of->nq[1], of->nv[0],
            of->nv[1], sizes[0], sizes[1], of->patch, p->own->rub.roll, p->own->rub.spin);
        if (patches) put_grain(c, p, of->patch);
        if (*tapes && of->patch) put(c, ", 0, 0, 0, 0");
        else if (*tapes)
            PUT(c, ", kind%d_gaps, kind%d_directions, kind%d_rates, kind%d_curvature", p->kind, p->kind, p->kind,
                p->kind);
        put(c, "}");
    }
    put(c, "};\n");
    return CAROM_OK;
}

// -- functions --------------------------------------------------------------------------------------------------------

static void put_ask(const ctext *c) {
    put(c, "\nstatic void near_ask(int kind, pair_function *f, int a, int b, const double *q, const double *v, double "
           "*out) {\n");
    PUT(c,
        "    const int of[2] = {a, b};\n    double at[14], rate[12], size[%d], *x = at, *y = rate, *s = size;\n    "
        "for (int k = 0; k < 2; ++k) {\n",
        2 * most_sizes(c->m->near));
    PUT(c,
        "        for (int j = 0; j < near[kind].nq[k]; ++j) *x++ = q[%.100s_shape[of[k]].q + j];\n        for (int j = "
        "0; j < near[kind].nv[k]; ++j) *y++ = v ? v[%.100s_shape[of[k]].v + j] : 0;\n",
        c->prefix, c->prefix);
    PUT(c,
        "        for (int j = 0; j < near[kind].sized[k]; ++j) *s++ = %.100s_shape[of[k]].size[j];\n    }\n    "
        "f(0, at, rate, size, out);\n}\n",
        c->prefix);
}

static void put_touch(const ctext *c) {
    put(c, "\nenum { GAPS, DIRECTIONS_OF, RATES, CURVATURE };\n\n// Contacts that are found by search.\n"
           "static void near_touch(int kind, int what, int a, int b, const double *q, const double *v, double *out) "
           "{\n    const int of[2] = {a, b};\n    both x;\n    carom_convex s[2];\n    carom_feature f[CAROM_PATCH];\n"
           "    double u[12] = {0};\n    for (int k = 0; k < 2; ++k) {\n        const int i = of[k];\n"
           "        s[k] = (carom_convex){solid[i].hull, solid[i].radius, solid[i].grid, solid[i].ellipsoid ? "
           "solid[i].axes : 0, solid[i].X};\n        x.f[k] = solid[i].still;\n");
    PUT(c,
        "        if (%.100s_shape[i].v < 0) continue;\n        memcpy(x.f[k].r, q + %.100s_shape[i].q, sizeof "
        "x.f[k].r);\n        rotation(q + %.100s_shape[i].q + 3, x.f[k].R);\n",
        c->prefix, c->prefix, c->prefix);
    PUT(c, "        for (int j = 0; j < 6 && v; ++j) u[6 * k + j] = v[%.100s_shape[i].v + j];\n    }\n", c->prefix);
    PUT(c, "    const double ra = %.100s_shape[a].radius, rb = %.100s_shape[b].radius;\n", c->prefix, c->prefix);
    PUT(c,
        "    const touch_pair p = {s[0], s[1], fmin(ra > 0 ? ra : INFINITY, rb > 0 ? rb : INFINITY), near[kind].roll, "
        "near[kind].spin, %.100s_kind[kind].directions, near[kind].nv[0] + near[kind].nv[1], near[kind].grain};\n",
        c->prefix);
    PUT(c,
        "    carom_patch_find(&p.A, &x.f[0], &p.B, &x.f[1], f);\n    for (int k = 0; k < %.100s_kind[kind].contacts; "
        "++k)\n",
        c->prefix);
    put(c, "        switch (what) {\n        case GAPS: out[k] = touch_gap(&p, &x, &f[k]); break;\n        case "
           "DIRECTIONS_OF: touch_columns(&p, &x, &f[k], out + k * p.directions * p.nv); break;\n"
           "        case RATES: touch_rates(&p, &x, &f[k], u, out + k * p.directions); break;\n        default: "
           "touch_curvature(&p, &x, &f[k], u, out + k * p.directions);\n        }\n}\n");
}

static void put_answers(const ctext *c, bool tapes, bool patches) {
    static const struct { const char *name, *what, *about; bool v; } all[] = {
        {"gaps", "GAPS", "Gaps of a pair of shapes a and b, in the order of _pair: out[contacts].", false},
        {"directions", "DIRECTIONS_OF", "Entries of its part of W: out[entries].", false},
        {"rates", "RATES", "Local velocities W'v: out[contacts directions].", true},
        {"curvature", "CURVATURE", "What their rates hold besides W'v'.", true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        PUT(c, "\n// %s\nvoid %.100s_pair_%s(int kind, int a, int b, const double *q, %sdouble *out) {\n", all[k].about,
            c->prefix, all[k].name, all[k].v ? "const double *v, " : "");
        const char *v = all[k].v ? "v" : "0";
        if (patches && tapes)
            PUT(c,
                "    if (near[kind].patch) near_touch(kind, %s, a, b, q, %s, out);\n    else near_ask(kind, "
                "near[kind].%s, a, b, q, %s, out);\n}\n",
                all[k].what, v, all[k].name, v);
        else if (patches) PUT(c, "    near_touch(kind, %s, a, b, q, %s, out);\n}\n", all[k].what, v);
        else PUT(c, "    near_ask(kind, near[kind].%s, a, b, q, %s, out);\n}\n", all[k].name, v);
    }
    PUT(c,
        "\n// Subscripts of its part of W: velocities i, local directions j of the pair.\nvoid "
        "%.100s_pair_subscripts(int kind, int a, int b, int *i, int *j) {\n",
        c->prefix);
    PUT(c,
        "    const int n = near[kind].nv[0], *row = %.100s_kind_i + %.100s_kind[kind].first;\n    for (int e = 0; e < "
        "%.100s_kind[kind].entries; ++e) {\n",
        c->prefix, c->prefix, c->prefix);
    PUT(c, "        i[e] = row[e] < n ? %.100s_shape[a].v + row[e] : %.100s_shape[b].v + row[e] - n;\n", c->prefix,
        c->prefix);
    PUT(c, "        j[e] = %.100s_kind_j[%.100s_kind[kind].first + e];\n    }\n}\n", c->prefix, c->prefix);
}

carom_status carom_ctext_near(const ctext *c, carom_error *err) {
    const carom_model *m = c->m;
    bool tapes = false, patches = false;
    if (!m->near || m->near->npairs == 0) return CAROM_OK;
    for (int k = 0; k < m->near->npairs; ++k) patches = patches || m->kinds[m->near->pairs[k].kind].patch;
    put(c, "\n// -- pairs of shapes that come and go "
           "--------------------------------------------------------------------------------\n"
           "//\n// Shapes that are near each other have contacts; which they are, the caller finds.\n\n");
    if (patches) put_search(c), put_solids(c);
    put_shapes(c);
    put_rules(c);
    CAROM_TRY(put_kinds(c, patches, &tapes, err));
    if (tapes) put_ask(c);
    if (patches) put_touch(c);
    put_answers(c, tapes, patches);
    return CAROM_OK;
}
