// members.c: flexible members in the C text of a model, and bodies that no expression knows.
//
// A member is a table of numbers (flex/fields.inc) and the library's own code for its kind.  Its matrices are lists
// over the pattern that they may fill: the lower band of M, the band of -df/dq and -df/dv, or, of a member that is
// given by matrices, their entries.
#include "derive/ctext/ctext.h"
#include "flex/flex.h"
#include "flex/member.h"
#include <stdlib.h>

bool carom_ctext_has_parts(const ctext *c) { return c->m->nmember || c->m->nfree; }

// -- counts -----------------------------------------------------------------------------------------------------------

static const carom_member *flex(const ctext *c, int k) { return c->m->members[k].flex; }

static bool by_rows(const carom_member *f) { return f->matrices && f->nmodal == 0; }

static size_t band_entries(int n, int band) {
    return (size_t)n * (size_t)(2 * band + 1) - (size_t)band * (size_t)(band + 1);
}

// Columns of row i of K, C and M, each once, ascending.
static int row_of(const carom_member *f, int i, int *col) {
    const flex_rows *const all[3] = {&f->matrices->K, &f->matrices->C, &f->matrices->M};
    int n = 0;
    for (int k = 0; k < 3; ++k)
        for (size_t e = all[k]->start ? all[k]->start[i] : 0; all[k]->start && e < all[k]->start[i + 1]; ++e) {
            int at = 0;
            while (at < n && col[at] < all[k]->col[e]) ++at;
            if (at < n && col[at] == all[k]->col[e]) continue;
            memmove(col + at + 1, col + at, (size_t)(n - at) * sizeof *col);
            col[at] = all[k]->col[e], ++n;
        }
    return n;
}

static size_t pattern_entries(const carom_member *f, int *col) {
    size_t n = 0;
    if (!by_rows(f)) return band_entries(f->n, carom_member_band(f));
    for (int i = 0; i < f->n; ++i) n += (size_t)row_of(f, i, col);
    return n;
}

static size_t lower_entries(const carom_member *f) {
    size_t n = 0;
    if (!f->matrices)
        return (size_t)f->n * (size_t)(f->mass_band + 1) - (size_t)f->mass_band * (size_t)(f->mass_band + 1) / 2;
    for (int i = 0; i < f->n; ++i)
        for (size_t e = f->matrices->M.start[i]; e < f->matrices->M.start[i + 1]; ++e) n += f->matrices->M.col[e] <= i;
    return n;
}

// Bodies that no expression knows, in the plane or in space.
static int bodies(const ctext *c, bool spatial) {
    int n = 0;
    for (int i = 0; c->m->nfree && i < c->m->nbodies; ++i)
        n += c->m->bodies[i].free && (c->m->bodies[i].space == SPATIAL) == spatial;
    return n;
}

int carom_ctext_mass_entries(const ctext *c) {
    size_t n = 3 * (size_t)bodies(c, false) + 9 * (size_t)bodies(c, true);
    for (int k = 0; k < c->m->nmember; ++k) n += lower_entries(flex(c, k));
    return (int)n;
}

int carom_ctext_tangent_entries(const ctext *c, bool damping) {
    size_t n = damping ? 9 * (size_t)bodies(c, true) : 0;
    for (int k = 0; k < c->m->nmember; ++k) {
        int *col = malloc(3 * (size_t)flex(c, k)->n * sizeof *col + sizeof *col);
        if (col) n += pattern_entries(flex(c, k), col);
        free(col);
    }
    return (int)n;
}

// -- tables -----------------------------------------------------------------------------------------------------------

static void put_rows(const ctext *c, const char *name, char letter, const flex_rows *A, int n) {
    if (!A->start) return;
    PUT(c, "static const size_t %.100s_%c_start[] = {", name, letter);
    for (int i = 0; i <= n; ++i) PUT(c, "%s%zu", i ? ", " : "", A->start[i]);
    put(c, "};\n");
    char begin[200];
    snprintf(begin, sizeof begin, "static const int %.100s_%c_col[] = ", name, letter);
    carom_ctext_ints(c, begin, A->col, A->start[n]);
    snprintf(begin, sizeof begin, "static const double %.100s_%c_value[] = ", name, letter);
    carom_ctext_doubles(c, begin, A->value, A->start[n]);
}

static void put_matrices(const ctext *c, const char *name, const carom_member *f) {
    const flex_rows *const all[3] = {&f->matrices->M, &f->matrices->K, &f->matrices->C};
    for (int k = 0; k < 3; ++k) put_rows(c, name, "MKC"[k], all[k], f->n);
    PUT(c, "static const flex_matrices %.100s_matrices = {", name);
    for (int k = 0; k < 3; ++k) {
        const char x = "MKC"[k];
        if (all[k]->start)
            PUT(c, "%s.%c = {%.100s_%c_start, %.100s_%c_col, %.100s_%c_value}", k ? ", " : "", x, name, x, name, x,
                name, x);
    }
    put(c, "};\n");
    if (!by_rows(f)) return;
    int *col = malloc(3 * (size_t)f->n * sizeof *col + sizeof *col);
    size_t at = 0;
    PUT(c, "static const size_t %.100s_start[] = {0", name);
    for (int i = 0; col && i < f->n; ++i) PUT(c, ", %zu", at += (size_t)row_of(f, i, col));
    PUT(c, "};\nstatic const int %.100s_col[] = {", name);
    for (int i = 0, n = 0; col && i < f->n; ++i)
        for (int e = 0, count = row_of(f, i, col); e < count; ++e) PUT(c, "%s%d", n++ ? ", " : "", col[e]);
    put(c, "};\n");
    free(col);
}

static void put_shaft(const ctext *c, const char *name, const carom_member *f) {
    PUT(c, "static const flex_shaft %.100s_shaft[] = {", name);
    for (int e = 0; e + 1 < f->nodes; ++e) {
        const flex_shaft *s = &f->shaft[e];
        PUT(c, "%s\n    {.s = %.17g, .l = %.17g, .mass = %.17g, .rotary = %.17g, .EI = %.17g, .GJ = %.17g",
            e ? "," : "", s->s, s->l, s->mass, s->rotary, s->EI, s->GJ);
        const double *const all[3] = {s->K, s->M, s->R};
        for (int k = 0; k < 3; ++k) {
            PUT(c, ", .%c = {", "KMR"[k]);
            for (int i = 0; i < 16; ++i) PUT(c, "%s%.17g", i ? ", " : "", all[k][i]);
            put(c, "}");
        }
        put(c, "}");
    }
    put(c, "};\n");
    if (!f->nwheel) return;
    PUT(c, "static const flex_wheel %.100s_wheel[] = {", name);
    for (int k = 0; k < f->nwheel; ++k)
        PUT(c, "%s{%d, %.17g, %.17g, %.17g}", k ? ", " : "", f->wheel[k].node, f->wheel[k].mass, f->wheel[k].polar,
            f->wheel[k].diametral);
    put(c, "};\n");
}

static void put_element(const ctext *c, const char *name, const double *A, int d) {
    PUT(c, ",\n    .%s = {", name);
    for (int e = 0; e < d * d; ++e) PUT(c, "%s%.17g", e ? ", " : "", A[e]);
    put(c, "}");
}

static void put_member(const ctext *c, int k) {
    static const char *const rule[] = {"BAR_RULE", NULL, "EXACT_BEAM_RULE", NULL, "SHAFT_RULE", "MATRICES_RULE"};
    const carom_member *f = flex(c, k);
    const member *b = &c->m->members[k];
    char name[CAROM_SLOT_NAME], begin[200];
    carom_ctext_member_name(c, k, name);
    put(c, "\n// Member "), put_escaped(c, CAROM_FOR_C_COMMENT, b->name);
    PUT(c, ", with `per` components of a node.  Its positions are q[_q] to q[_q + _n - 1], its velocities alike.  "
           "Component c of node i is\n"
           "// unknown number _unknown[per i + c] of these; -1: it is fixed.\n");
    PUT(c, "enum { %s_q = %d, %s_v = %d, %s_n = %d };\n", name, b->q, name, b->v, name, b->count);
    snprintf(begin, sizeof begin, "const int %s_unknown[] = ", name);
    carom_ctext_ints(c, begin, f->unknown, (size_t)f->nodes * (size_t)f->per);
    snprintf(begin, sizeof begin, "static const double %s_mass[] = ", name);
    if (f->mass) carom_ctext_doubles(c, begin, f->mass, (size_t)f->n * (size_t)(f->mass_band + 1));
    snprintf(begin, sizeof begin, "static const double %s_load[] = ", name);
    if (f->load) carom_ctext_doubles(c, begin, f->load, (size_t)f->n);
    snprintf(begin, sizeof begin, "static const double %s_modal[] = ", name);
    if (f->nmodal) carom_ctext_doubles(c, begin, f->modal, (size_t)f->n * (size_t)f->nmodal);
    if (f->matrices) put_matrices(c, name, f);
    if (f->shaft) put_shaft(c, name, f);
    if (f->nrun) {
        PUT(c, "static const flex_run %s_run[] = {", name);
        for (int i = 0; i < f->nrun; ++i)
            PUT(c, "%s{%d, %d, {%d, %d}}", i ? ", " : "", f->run[i].first, f->run[i].count, f->run[i].held[0],
                f->run[i].held[1]);
        put(c, "};\n");
    }
    PUT(c,
        "static const carom_member %s = {.nodes = %d, .n = %d, .per = %d, .l = %.17g, .mass_band = %d, .band = %d,\n",
        name, f->nodes, f->n, f->per, f->l, f->mass_band, f->band);
    PUT(c,
        "    .damping_mass = %.17g, .damping_stiffness = %.17g, .damping_torsion = %.17g, .section = {%.17g, %.17g, "
        "%.17g},\n",
        f->damping_mass, f->damping_stiffness, f->damping_torsion, f->section[0], f->section[1], f->section[2]);
    PUT(c, "    .rest = {{%.17g, %.17g, %.17g}, {%.17g, %.17g, %.17g}}, .unknown = %s_unknown", f->rest[0][0],
        f->rest[0][1], f->rest[0][2], f->rest[1][0], f->rest[1][1], f->rest[1][2], name);
    if (f->mass) PUT(c, ", .mass = %s_mass", name);
    if (f->load) PUT(c, ", .load = %s_load", name);
    if (f->nmodal) PUT(c, ", .modal = %s_modal, .nmodal = %d", name, f->nmodal);
    if (f->nrun) PUT(c, ", .run = %s_run, .nrun = %d", name, f->nrun);
    if (f->shaft) PUT(c, ", .shaft = %s_shaft", name);
    if (f->nwheel) PUT(c, ", .wheel = %s_wheel, .nwheel = %d", name, f->nwheel);
    if (f->matrices) PUT(c, ", .matrices = &%s_matrices", name);
    if (rule[f->def.kind]) PUT(c, ", .rule = %s", rule[f->def.kind]);
    if (!f->matrices && !f->shaft) put_element(c, "Ke", f->Ke, 2 * f->per), put_element(c, "Ce", f->Ce, 2 * f->per);
    put(c, "};\n");
}

// -- their code -------------------------------------------------------------------------------------------------------

static bool has_kind(const ctext *c, carom_member_kind kind) {
    for (int k = 0; k < c->m->nmember; ++k)
        if (flex(c, k)->def.kind == kind) return true;
    return false;
}

static const char matrix_text[] =
    "// A matrix of a member, as a list: all of a band, by rows; or entries start[i] .. start[i + 1] - 1 of row i in "
    "the columns col.\n"
    "typedef struct carom_matrix { double *a; int n, band; const size_t *start; const int *col; } carom_matrix;\n\n"
    "// Where row i starts.\n"
    "static size_t row_start(carom_matrix A, int i) {\n"
    "    const size_t b = (size_t)A.band, left = (size_t)(i < A.band ? i : A.band), right = (size_t)(i > A.n - A.band "
    "? i - A.n + A.band : 0);\n"
    "    if (A.start) return A.start[i];\n"
    "    return (size_t)i * (2 * b + 1) - left * b + (left > 0 ? left * (left - 1) / 2 : 0) - right * (right + 1) / "
    "2;\n"
    "}\n\n"
    "static int row_column(carom_matrix A, int i, int e) { return A.start ? A.col[A.start[i] + (size_t)e] : e + (i > "
    "A.band ? i - A.band : 0); }\n\n"
    "static double *carom_matrix_entry(carom_matrix A, int i, int j) {\n"
    "    size_t low = row_start(A, i), high = A.start ? A.start[i + 1] : 0;\n"
    "    if (!A.start) return A.a + low + (j - (i > A.band ? i - A.band : 0));\n"
    "    while (low + 1 < high) {\n"
    "        const size_t middle = low + (high - low) / 2;\n"
    "        if (A.col[middle] <= j) low = middle;\n"
    "        else high = middle;\n"
    "    }\n"
    "    return A.a + low;\n"
    "}\n\n";

static const char lists_text[] =
    "\n// The lower triangle of M, from out[e] and subscripts i[e], j[e] on; NULL: not requested.\n"
    "static int member_mass(const carom_member *m, int at, double *out, int *i, int *j) {\n"
    "    int e = 0;\n"
    "    for (int row = 0; row < m->n; ++row) {\n"
    "        if (m->matrices) {\n"
    "            const flex_rows *M = &m->matrices->M;\n"
    "            for (size_t k = M->start[row]; k < M->start[row + 1]; ++k) {\n"
    "                if (M->col[k] > row) continue;\n"
    "                if (out) out[e] = M->value[k];\n"
    "                if (i) i[e] = at + row, j[e] = at + M->col[k];\n"
    "                ++e;\n"
    "            }\n"
    "            continue;\n"
    "        }\n"
    "        for (int col = row > m->mass_band ? row - m->mass_band : 0; col <= row; ++col, ++e) {\n"
    "            if (out) out[e] = m->mass[(size_t)col * (size_t)(m->mass_band + 1) + (size_t)(row - col)];\n"
    "            if (i) i[e] = at + row, j[e] = at + col;\n"
    "        }\n"
    "    }\n"
    "    return e;\n"
    "}\n\n"
    "// Subscripts of a list over the pattern.\n"
    "static void pattern_subscripts(carom_matrix A, int at, int *i, int *j) {\n"
    "    for (int row = 0, e = 0; row < A.n; ++row)\n"
    "        for (int k = 0, n = (int)(row_start(A, row + 1) - row_start(A, row)); k < n; ++k, ++e) i[e] = at + row, "
    "j[e] = at + row_column(A, row, k);\n"
    "}\n";

static void put_members(const ctext *c) {
    static const struct { carom_member_kind kind; const char *text; } parts[] = {{CAROM_BAR, carom_bar_text},
                 {CAROM_EXACT_BEAM, carom_exact_beam_text},
                 {CAROM_SHAFT, carom_shaft_text},
                 {CAROM_MATRICES, carom_matrices_text}};
    put(c, "// -- flexible members "
           "---------------------------------------------------------------------------------------------\n\n"
           "#define TABLE const\ntypedef struct carom_member carom_member;\n\n");
    put(c, matrix_text), put(c, carom_types_text), put(c, "\nstruct carom_member {\n"), put(c, carom_fields_text),
        put(c, "};\n\n"), put(c, carom_rest_text), put(c, "\n");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (has_kind(c, parts[i].kind)) put(c, parts[i].text), put(c, "\n");
    put(c, carom_elements_text), put(c, lists_text);
    for (int k = 0; k < c->m->nmember; ++k) put_member(c, k);
    put(c, "\n// All members: where their positions and velocities start; whether their forces come first; entries and "
           "pattern of their tangents.\n"
           "static const struct { const carom_member *flex; int q, v, streams; size_t entries; carom_matrix pattern; } "
           "members[] = {");
    for (int k = 0; k < c->m->nmember; ++k) {
        const carom_member *f = flex(c, k);
        int *col = malloc(3 * (size_t)f->n * sizeof *col + sizeof *col);
        char name[CAROM_SLOT_NAME];
        carom_ctext_member_name(c, k, name);
        PUT(c, "%s\n    {&%s, %d, %d, %d, %zu, {.n = %d, .band = %d", k ? "," : "", name, c->m->members[k].q,
            c->m->members[k].v, carom_member_streams(f), col ? pattern_entries(f, col) : 0, f->n, carom_member_band(f));
        if (by_rows(f)) PUT(c, ", .start = %s_start, .col = %s_col", name, name);
        put(c, "}}");
        free(col);
    }
    PUT(c, "};\nenum { nmembers = %d };\n\n", c->m->nmember);
}

static void put_bodies(const ctext *c) {
    const carom_model *m = c->m;
    put(c, "// -- bodies that no expression knows "
           "--------------------------------------------------------------------------------\n\n");
    put(c, carom_free_text);
    PUT(c, "\nstatic const double gravity[3] = {%.17g, %.17g, %.17g};\nstatic const double inertia[][9] = {",
        m->gravity[0], m->gravity[1], m->gravity[2]);
    for (int i = 0, n = 0; i < m->nbodies; ++i) {
        if (!m->bodies[i].free) continue;
        put(c, n++ ? ",\n    {" : "\n    {");
        for (int k = 0; k < 9; ++k) PUT(c, "%s%.17g", k ? ", " : "", m->bodies[i].J[k]);
        put(c, "}");
    }
    put(c, "};\nstatic const free_body bodies[] = {");
    for (int i = 0, n = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        const int dim = b->space == SPATIAL ? 3 : 2;
        if (!b->free) continue;
        PUT(c, "%s\n    {%d, %d, %d, %.17g, inertia[%d]}", n ? "," : "", dim, b->orientation - dim, b->v, b->mass, n);
        ++n;
    }
    PUT(c, "};\nenum { nbodies = %d };\n\n", bodies(c, false) + bodies(c, true));
}

void carom_ctext_parts(const ctext *c) {
    if (c->m->nmember) put_members(c);
    if (c->m->nfree) put_bodies(c);
}

// -- functions --------------------------------------------------------------------------------------------------------

// Subscripts are written by a function: tables of them would be longer than all else.
static void put_mass(const ctext *c) {
    const carom_model *m = c->m;
    PUT(c, "static int parts_mass(double *out, int *i, int *j) {\n    int e = 0;\n");
    if (m->nmember)
        put(c, "    for (int k = 0; k < nmembers; ++k) e += member_mass(members[k].flex, members[k].v, out ? out + e : "
               "0, i ? i + e : 0, i ? j + e : 0);\n");
    if (m->nfree)
        put(c, "    for (int k = 0; k < nbodies; ++k) {\n        const free_body *b = &bodies[k];\n"
               "        for (int d = 0; d < 3; ++d, ++e) {\n            if (out) out[e] = d < b->dim ? b->mass : "
               "b->J[8];\n            if (i) i[e] = j[e] = b->v + d;\n        }\n"
               "        for (int row = 0; row < 3 && b->dim == 3; ++row)\n            for (int col = 0; col <= row; "
               "++col, ++e) {\n"
               "                if (out) out[e] = b->J[3 * row + col];\n                if (i) i[e] = b->v + 3 + row, "
               "j[e] = b->v + 3 + col;\n            }\n    }\n");
    PUT(c,
        "    return e;\n}\n\nvoid %.100s_mass" CTEXT_ARGUMENTS
        " {\n    own_mass(t, q, v, p, out);\n    parts_mass(out + %d, 0, 0);\n}\n",
        c->prefix, m->mass.n);
    PUT(c,
        "\n// Subscripts of the entries of M: i[mass_n], j[mass_n].\nvoid %.100s_mass_subscripts(int *i, int *j) {\n",
        c->prefix);
    PUT(c,
        "    for (int e = 0; e < %d; ++e) i[e] = own_mass_i[e], j[e] = own_mass_j[e];\n    parts_mass(0, i + %d, j + "
        "%d);\n}\n",
        m->mass.n, m->mass.n, m->mass.n);
}

static void put_force(const ctext *c) {
    const carom_model *m = c->m;
    PUT(c, "void %.100s_force" CTEXT_ARGUMENTS " {\n", c->prefix);
    if (m->nmember == 0) put(c, "    own_force(t, q, v, p, out);\n");
    if (m->nfree) put(c, "    for (int k = 0; k < nbodies; ++k) free_force(&bodies[k], gravity, v, out);\n");
    if (m->nmember) {
        const int n = m->visible.nv_own + 1 + m->visible.compiled;
        put(c, "    static const int velocity[] = {"); // of each of the forces of expressions
        for (int k = 0; k < n; ++k) PUT(c, "%s%d", k ? ", " : "", carom_model_visible(m, k));
        PUT(c,
            "}; // of the forces of expressions; -1: none\n    double own[%d];\n    own_force(t, q, v, p, own);\n    "
            "for (int i = 0; i < %d; ++i) out[i] = 0;\n",
            n, m->visible.nv_own);
        put(c, "    for (int k = 0; k < nmembers; ++k) {\n        const carom_member *m = members[k].flex;\n        if "
               "(members[k].streams) m->rule.stream(m, q + members[k].q, out + members[k].v);\n"
               "        else for (int i = 0; i < m->n; ++i) out[members[k].v + i] = 0;\n    }\n");
        PUT(c, "    for (int k = 0; k < %d; ++k)\n        if (velocity[k] >= 0) out[velocity[k]] += own[k];\n", n);
        put(c, "    for (int k = 0; k < nmembers; ++k)\n        if (!members[k].streams) member_force(members[k].flex, "
               "q + members[k].q, v + members[k].v, out + members[k].v);\n");
    }
    put(c, "}\n");
}

static void put_tangent(const ctext *c) {
    const carom_model *m = c->m;
    const int K = m->K.n, C = m->C.n, more = carom_ctext_tangent_entries(c, false),
              damped = carom_ctext_tangent_entries(c, true);
    PUT(c,
        "void %.100s_tangent" CTEXT_ARGUMENTS
        " {\n    own_tangent(t, q, v, p, out);\n    double *K = out + %d, *C = out + %d;\n    (void)K;\n",
        c->prefix, K, K + more + C);
    PUT(c,
        "    for (int e = %d; e >= %d; --e) out[e + %d] = out[e];\n    for (int e = 0; e < %d; ++e) K[e] = 0;\n    for "
        "(int e = 0; e < %d; ++e) C[e] = 0;\n",
        K + C - 1, K, more, more, damped);
    if (m->nmember)
        put(c, "    for (int k = 0; k < nmembers; ++k) {\n        carom_matrix A = members[k].pattern, B = A;\n        "
               "A.a = K, B.a = C;\n"
               "        member_tangent(members[k].flex, q + members[k].q, v + members[k].v, A, B, 0);\n        K += "
               "members[k].entries, C += members[k].entries;\n    }\n");
    if (m->nfree)
        put(c, "    for (int k = 0; k < nbodies; ++k)\n        if (bodies[k].dim == 3) free_tangent(&bodies[k], v, C), "
               "C += 9;\n");
    PUT(c,
        "}\n\n// Subscripts of the entries of the tangents: i[tangent_n], j[tangent_n].\nvoid "
        "%.100s_tangent_subscripts(int *i, int *j) {\n",
        c->prefix);
    PUT(c,
        "    for (int e = 0; e < %d; ++e) {\n        const int to = e < %d ? e : e + %d;\n        i[to] = "
        "own_tangent_i[e], j[to] = own_tangent_j[e];\n    }\n    int K = %d, C = %d;\n    (void)K;\n",
        K + C, K, more, K, K + more + C);
    if (m->nmember)
        put(c, "    for (int k = 0; k < nmembers; ++k) {\n        pattern_subscripts(members[k].pattern, members[k].v, "
               "i + K, j + K);\n        pattern_subscripts(members[k].pattern, members[k].v, i + C, j + C);\n"
               "        K += (int)members[k].entries, C += (int)members[k].entries;\n    }\n");
    if (m->nfree)
        put(c, "    for (int k = 0; k < nbodies; ++k)\n        for (int e = 0; e < 9 && bodies[k].dim == 3; ++e, ++C) "
               "i[C] = bodies[k].v + 3 + e / 3, j[C] = bodies[k].v + 3 + e % 3;\n");
    put(c, "}\n");
}

static void put_energy(const ctext *c) {
    PUT(c, "void %.100s_energy" CTEXT_ARGUMENTS " {\n    own_energy(t, q, v, p, out);\n", c->prefix);
    if (c->m->nmember)
        put(c, "    for (int k = 0; k < nmembers; ++k) {\n        double T, V;\n        member_energy(members[k].flex, "
               "q + members[k].q, v + members[k].v, &T, &V);\n        out[0] += T;\n        out[1] += V;\n    }\n");
    if (c->m->nfree)
        put(c, "    for (int k = 0; k < nbodies; ++k) free_energy(&bodies[k], gravity, q, v, &out[0], &out[1]);\n");
    put(c, "}\n");
}

static void put_power(const ctext *c) {
    PUT(c, "void %.100s_power" CTEXT_ARGUMENTS " {\n    double damping = 0;\n    own_power(t, q, v, p, out);\n",
        c->prefix);
    put(c, "    for (int k = 0; k < nmembers; ++k) damping += member_dissipation(members[k].flex, q + members[k].q, v "
           "+ members[k].v);\n    out[1] += damping;\n}\n");
}

bool carom_ctext_with_parts(const ctext *c, const char *name, bool write) {
    static const struct {
        const char *name; void (*put)(const ctext *c); bool members;
    } all[] = {{"mass", put_mass, false},
               {"force", put_force, false},
               {"tangent", put_tangent, false},
               {"energy", put_energy, false},
               {"power", put_power, true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        if (strcmp(all[k].name, name) == 0 && (c->m->nmember || (c->m->nfree && !all[k].members))) {
            if (write) all[k].put(c);
            return true;
        }
    return false;
}
