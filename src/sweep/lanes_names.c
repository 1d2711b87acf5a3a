// lanes_names.c: groups of statements of a model in the text of lanes, and what their results are called.
#include "sweep/lanes_text.h"
#include "model/conditions.h"
#include "system/system.h"
#include <stdio.h>
#include <stdlib.h>

// Position or velocity i of the graph among those of the model.
static int seen(const carom_model *m, bool velocity, int i) {
    const int own = velocity ? m->visible.nv_own : m->visible.nq_own;
    return !m->nmember || i < own ? i : i == own ? -1 : (velocity ? m->visible.v : m->visible.q)[i - own - 1];
}

bool lane_input_name(void *user, carom_input kind, int i, char s[CAROM_SLOT_NAME]) {
    const text *x = user;
    const carom_model *m = x->m;
    int ledger = 0;
    if (x->of_kind) { // positions and velocities of two bodies; sizes, which are numbers
        if (kind == CAROM_TIME)
            strcpy(s, "T(of)(0)");
        else if (kind == CAROM_PARAMETER)
            snprintf(s, CAROM_SLOT_NAME, "T(of)(z[%d])", i);
        else
            snprintf(s, CAROM_SLOT_NAME, "%c[%d]", kind == CAROM_POSITION ? 'q' : 'v', i);
        return true;
    }
    switch (kind) {
    case CAROM_TIME: strcpy(s, "t"); return true;
    case CAROM_POSITION: snprintf(s, CAROM_SLOT_NAME, "q[%d]", seen(m, false, i)); return true;
    case CAROM_VELOCITY: snprintf(s, CAROM_SLOT_NAME, "v[%d]", seen(m, true, i)); return true;
    case CAROM_PARAMETER: break;
    }
    if (i < m->np && x->moves[i]) return snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->place[i]), true;
    if (i < m->np) return carom_native_number(m->parameter[i], s), false;
    if (x->of_rub) return snprintf(s, CAROM_SLOT_NAME, "reaction[%d]", i - m->np), true;
    while (carom_ledger_name(ledger)) ++ledger;
    if (i - m->np >= ledger) return snprintf(s, CAROM_SLOT_NAME, "a[%d]", i - m->np - ledger), true;
    return snprintf(s, CAROM_SLOT_NAME, "ledger[%d]",
                    strcmp(carom_ledger_name(i - m->np), "impacts") == 0 ? LEDGER_IMPACTS : LEDGER_PENETRATION),
           true;
}

int lane_mass_entry(const text *x, int i, int j) {
    for (int e = 0; e < x->mass.n; ++e)
        if (x->mass.i[e] == i && x->mass.j[e] == j) return e;
    return -1;
}

// Row of direction d; -1: it takes no part.
int lane_row_of(const text *x, int d) {
    for (int id = 0; id < x->m->ne + x->m->nc; ++id) {
        const constraint *c = &x->m->links[id];
        if (d >= c->dir && d < c->dir + c->ndir) return x->row[id] + d - c->dir;
    }
    return -1;
}

static bool motion_name(const text *x, int i, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const int nf = m->nmember ? m->visible.nv_own + 1 + m->visible.compiled : m->nv;
    const int nm = m->whole_mass ? m->nv * m->nv : m->mass.n;
    if (i < nf) return snprintf(s, CAROM_SLOT_NAME, m->nmember ? "e[%d]" : "f[%d]", i), true;
    if ((i -= nf) < nm) {
        const int e = m->whole_mass ? i % m->nv >= i / m->nv ? lane_mass_entry(x, i % m->nv, i / m->nv) : -1 : i;
        return snprintf(s, CAROM_SLOT_NAME, "m[%d]", e), e >= 0;
    }
    return snprintf(s, CAROM_SLOT_NAME, "g[%d]", i - nm), true;
}

// Places of a list of dW and of one of dw that follows it, each from some entry on.
static void gradient_name(const carom_model *m, span a, int ndW, int i, char s[CAROM_SLOT_NAME]) {
    snprintf(s, CAROM_SLOT_NAME, "out[%d]", i < ndW ? a.dW + i : m->dW.n + a.dw + i - ndW);
}

// Entry e of W (w: beyond it).
static bool direction_name(const text *x, bool of_w, int e, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const int r = lane_row_of(x, of_w ? m->w.i[e] : m->W.j[e]);
    if (of_w)
        snprintf(s, CAROM_SLOT_NAME, "w[%d]", r);
    else
        snprintf(s, CAROM_SLOT_NAME, "W[%d]", r * m->nv + m->W.i[e]);
    return r >= 0;
}

typedef struct kind_text {
    char text[60];
} kind_text;
static kind_text kind_name(int kind, int answer, bool typed);

// Where the derivatives of directions of a pair that shares begin, behind those of the model.
int lane_shared_gradient(const carom_model *m, const pair *p) {
    int at = m->dW.n + m->dw.n;
    for (const pair *o = m->pairs; o < p; ++o)
        if (o->shares) at += m->kinds[o->kind].two->dW.n;
    return at;
}

static bool pair_output_name(const text *x, int i, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const pair *p = &m->pairs[x->of_pair - 1];
    const span a = p->own->from, b = p->own->to;
    const int nW = b.W - a.W;
    int r;
    switch (x->mode) {
    case OUT_MOTION: return snprintf(s, CAROM_SLOT_NAME, "g[%d]", p->first + i), true;
    case OUT_ROWS: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", r = lane_row_of(x, a.dir + i)), r >= 0;
    case OUT_DIRECTIONS: return direction_name(x, i >= nW, i < nW ? a.W + i : a.w + i - nW, s);
    case OUT_GRADIENT: return gradient_name(m, a, b.dW - a.dW, i, s), true;
    default: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", p->first + i), true;
    }
}

bool lane_output_name(void *user, int i, char s[CAROM_SLOT_NAME]) {
    const text *x = user;
    const carom_model *m = x->m;
    int r;
    if (x->of_pair) return pair_output_name(x, i, s);
    if (x->of_kind) return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i), true;
    switch (x->mode) {
    case OUT_MOTION: return motion_name(x, i, s);
    case OUT_ROWS: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", r = lane_row_of(x, i)), r >= 0;
    case OUT_JOINTS: // joints have one direction each, and come first
        r = lane_row_of(x, i < m->own.W ? m->W.j[i] : m->w.i[i - m->own.W]);
        return r < m->ne && direction_name(x, i >= m->own.W, i < m->own.W ? i : i - m->own.W, s);
    case OUT_DIRECTIONS: return direction_name(x, i >= m->own.W, i < m->own.W ? i : i - m->own.W, s);
    case OUT_GRADIENT: return gradient_name(m, (span){0}, m->own.dW, i, s), true;
    case OUT_KC:
        if (i < m->K.n)
            snprintf(s, CAROM_SLOT_NAME, "K[%d]", m->K.i[i] * m->nv + m->K.j[i]);
        else
            snprintf(s, CAROM_SLOT_NAME, "C[%d]", m->C.i[i - m->K.n] * m->nv + m->C.j[i - m->K.n]);
        return true;
    case OUT_OBSERVE:
        return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i - 2 * m->nchecks),
               i >= 2 * m->nchecks && i < 2 * m->nchecks + x->r->nobserve;
    case OUT_ALL: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i), true;
    default: return snprintf(s, CAROM_SLOT_NAME, "*out"), i == x->mode - OUT_ONE; // this one alone
    }
}

// What pairs of shapes add to a group of the model; -1: nothing.
static int group_of_pairs(int group) {
    switch (group) {
    case GROUP_MOTION_GAPS:
    case GROUP_GAPS: return PAIR_GAPS;
    case GROUP_DIRECTIONS: return PAIR_DIRECTIONS;
    case GROUP_RATES: return PAIR_RATES;
    case GROUP_CURVATURE: return PAIR_CURVATURE;
    case GROUP_RATE_GRADIENT: return PAIR_RATE_GRADIENT;
    default: return -1;
    }
}

// -- pairs that share the functions of their kind --------------------------------------------------------------------

static const struct {
    pair_group group;
    const char *name;
    bool velocities;
} kind_answers[] = {{PAIR_GAPS, "gaps", false},
                    {PAIR_DIRECTIONS, "directions", false},
                    {PAIR_RATES, "rates", true},
                    {PAIR_CURVATURE, "curvature", true},
                    {PAIR_RATE_GRADIENT, "rate_gradient", false}};
enum { KIND_ANSWERS = sizeof kind_answers / sizeof *kind_answers };

static int answers_of(const carom_model *two, int count, int group) {
    return group == PAIR_GAPS            ? count
           : group == PAIR_DIRECTIONS    ? two->W.n
           : group == PAIR_RATE_GRADIENT ? two->dW.n
                                         : two->ndir;
}

// Is this answer asked of vectors?
static bool of_vectors(int group) { return group == PAIR_GAPS || group == PAIR_RATES; }

bool lane_pair_shares(const carom_model *m) {
    for (int i = 0; i < m->npairs; ++i)
        if (m->pairs[i].shares) return true;
    return false;
}

static kind_text kind_name(int kind, int answer, bool typed) {
    kind_text s;
    snprintf(s.text, sizeof s.text, typed ? "T(kind%d_%s)" : "kind%d_%s", kind, kind_answers[answer].name);
    return s;
}

// Half of the compiler's time: where there are vectors, one system is a vector of the same ones, with the same bits.
static void put_by_vector(const text *x, int k, int answer) {
    const pair_kind *kind = &x->m->kinds[k];
    const int n = answers_of(kind->two, kind->first->count, (int)kind_answers[answer].group),
              nq = kind->nq[0] + kind->nq[1], nv = kind_answers[answer].velocities ? kind->nv[0] + kind->nv[1] : 0;
    PUT(x, "#ifdef BY_VECTOR\n    V a[%d], b[%d], o[%d];\n", nq, nv + 1, n + 1);
    PUT(x, "    for (int i = 0; i < %d; ++i) a[i] = V_of(q[i]);\n", nq);
    PUT(x, "    for (int i = 0; i < %d; ++i) b[i] = V_of(v[i]);\n", nv);
    PUT(x, "    V_kind%d_%s(a, b, z, o);\n    for (int i = 0; i < %d; ++i) out[i] = o[i][0];\n#else\n", k,
        kind_answers[answer].name, n);
}

// Functions of two bodies: q and v are theirs, z the sizes of their shapes.
carom_status lane_put_kinds(text *x, bool typed) {
    enum { FEW = 4 };
    const carom_lane_names names = {x, lane_input_name, lane_output_name, false};
    carom_status status = CAROM_OK;
    for (int k = 0; k < x->m->nkinds && status == CAROM_OK; ++k)
        for (int a = 0; a < KIND_ANSWERS && status == CAROM_OK; ++a) {
            if (of_vectors(kind_answers[a].group) != typed ||
                (kind_answers[a].group == PAIR_RATE_GRADIENT && !x->r->jean))
                continue;
            PUT(x,
                "\n%s void %s(const %s *q, const %s *v, const double *z, %s *out) {\n    (void)q, (void)v, (void)z;\n",
                x->m->npairs > FEW ? "NOINLINE" : "DEVICE", kind_name(k, a, typed).text, typed ? "real" : "double",
                typed ? "real" : "double", typed ? "real" : "double");
            if (typed) put_by_vector(x, k, a);
            x->of_kind = k + 1;
            status = carom_lane_write_group(&x->kind[k], kind_answers[a].group, &names, true, x->write, x->user);
            x->of_kind = 0;
            put(x, typed ? "#endif\n}\n" : "}\n");
        }
    return status;
}

// Row of answer e among those of the pair's first contact, by kind; -1: it takes no part.
static int answer_row(const text *x, const pair *p, int d) {
    const int r = lane_row_of(x, x->m->links[p->first].dir + d);
    return r < 0 ? -1 : r - x->row[p->first];
}

// Do all pairs of this one's kind before it have rows as it has?  Else they are told apart.
static bool same_rows(const text *x, const pair *p, const pair *o) {
    if (!p->shares || !o->shares || p->kind != o->kind) return false;
    for (int d = 0; d < x->m->kinds[p->kind].two->ndir; ++d)
        if (answer_row(x, p, d) != answer_row(x, o, d)) return false;
    return true;
}

// The first pair of the class of pair i: those of one kind and with the same rows.
static int class_of(const text *x, int i) {
    int k = 0;
    while (k < i && !same_rows(x, &x->m->pairs[k], &x->m->pairs[i])) ++k;
    return k;
}

// What the functions of pairs that share are told: of each pair its number, where positions and velocities of its
// bodies start, its first contact, row and derivative; of each class where its answers go.
void lane_put_classes(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    if (!lane_pair_shares(m)) return;
    put(x, "CONSTANT double MARGIN[] = {"); // of each pair; beyond it a bound is taken for its gaps
    for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
        carom_native_number(p->own->bound == CAROM_NONE ? 0x1.fffffffffffffp1023 : p->own->margin, number);
        PUT(x, "%s, ", number);
    }
    put(x, "0};\n");
    for (int i = 0; i < m->npairs; ++i) {
        const carom_model *two = m->pairs[i].shares ? m->kinds[m->pairs[i].kind].two : NULL;
        if (!two || class_of(x, i) != i) continue;
        PUT(x, "CONSTANT int PAIR_%d[][8] = {", i);
        for (int k = i; k < m->npairs; ++k) {
            const pair *p = &m->pairs[k];
            if (p->shares && class_of(x, k) == i)
                PUT(x, "{%d, %d, %d, %d, %d, %d, %d, %d}, ", k, p->q_at[0], p->q_at[1], p->v_at[0], p->v_at[1],
                    p->first, x->row[p->first], lane_shared_gradient(m, p));
        }
        PUT(x, "{-1}};\nCONSTANT int AT_%d[] = {", i);
        for (int d = 0; d < two->ndir; ++d) PUT(x, "%d, ", answer_row(x, &m->pairs[i], d));
        PUT(x, "-1};\nCONSTANT int W_%d[][2] = {", i); // row and velocity of its entries
        for (int e = 0; e < two->W.n; ++e) PUT(x, "{%d, %d}, ", answer_row(x, &m->pairs[i], two->W.j[e]), two->W.i[e]);
        put(x, "{-1}};\n");
    }
}

// The answers of a class of pairs, one after the other.  As the library has it, a pair that is far answers with a bound
// of its gaps, and with how fast that changes.
static void put_shared(const text *x, int i, int group) {
    const carom_model *m = x->m;
    const pair *p = &m->pairs[i];
    const pair_kind *k = &m->kinds[p->kind];
    const bool typed = of_vectors(group);
    const int n = answers_of(k->two, p->count, group), per = k->two->ndir / p->count;
    int a = 0;
    while ((int)kind_answers[a].group != group) ++a;
    if (n == 0) return;
    PUT(x, "    for (const int(*z)[8] = PAIR_%d; **z >= 0; ++z) {\n", i);
    PUT(x, "        %s a[14], b[12], o[%d];\n", typed ? "real" : "double", n);
    PUT(x, "        const %s far = T(below)(T(of)(MARGIN[z[0][0]]), bound[z[0][0]]);\n", typed ? "T(mask)" : "int");
    put(x, typed ? "        if (T(any)(T(not)(far))) {\n" : "        if (!far) {\n");
    for (int side = 0; side < 2; ++side) {
        PUT(x, "            for (int j = 0; j < %d; ++j) a[%d + j] = q[z[0][%d] + j];\n", k->nq[side], side * k->nq[0],
            1 + side);
        if (kind_answers[a].velocities)
            PUT(x, "            for (int j = 0; j < %d; ++j) b[%d + j] = v[z[0][%d] + j];\n", k->nv[side],
                side * k->nv[0], 3 + side);
    }
    PUT(x, "            %s(a, %s, SIZES + %d * z[0][0], o);\n", kind_name(p->kind, a, typed).text,
        kind_answers[a].velocities ? "b" : "a", MOST_SIZES);
    put(x, "        }\n        (void)b;\n");
    PUT(x, "        for (int e = 0; e < %d; ++e)\n            ", n);
    switch (group) {
    case PAIR_GAPS:
        PUT(x, "%s[z[0][5] + e] = T(any)(T(not)(far)) ? T(pick)(far, bound[z[0][0]], o[e]) : bound[z[0][0]];\n",
            x->mode == OUT_MOTION ? "g" : "out");
        break;
    case PAIR_RATES:
        PUT(x,
            "if (AT_%d[e] >= 0) {\n                const real far_rate = e %% %d ? T(of)(0) : bound_rate[z[0][0]];\n"
            "                out[z[0][6] + AT_%d[e]] = T(any)(T(not)(far)) ? T(pick)(far, far_rate, o[e]) : far_rate;\n"
            "            }\n",
            i, per, i);
        break;
    case PAIR_DIRECTIONS:
        PUT(x,
            "if (!far && W_%d[e][0] >= 0) W[(z[0][6] + W_%d[e][0]) * NV + (W_%d[e][1] < %d ? z[0][3] : z[0][4] - %d) + "
            "W_%d[e][1]] = o[e];\n",
            i, i, i, k->nv[0], k->nv[0], i);
        break;
    case PAIR_RATE_GRADIENT: put(x, "out[z[0][7] + e] = far ? 0 : o[e];\n"); break;
    default: PUT(x, "if (AT_%d[e] >= 0) out[z[0][6] + AT_%d[e]] = far ? 0 : o[e];\n", i, i);
    }
    put(x, "    }\n");
}

static carom_status put_pairs(text *x, int group, const carom_lane_names *names) {
    carom_status status = CAROM_OK;
    if (lane_pair_shares(x->m)) {
        PUT(x, "    %s bound[%d];\n", of_vectors(group) ? "real" : "double", x->m->npairs);
        PUT(x, "    %s(t, q, k, bound);\n", of_vectors(group) ? "T(bounds)" : "D_bounds");
        if (group == PAIR_RATES)
            PUT(x, "    real bound_rate[%d];\n    T(bound_rates)(t, q, v, k, bound_rate);\n", x->m->npairs);
    }
    for (x->of_pair = 1; x->of_pair <= x->m->npairs && status == CAROM_OK; ++x->of_pair) {
        if (x->m->pairs[x->of_pair - 1].shares) {
            if (class_of(x, x->of_pair - 1) == x->of_pair - 1) put_shared(x, x->of_pair - 1, group);
            continue;
        }
        put(x, "    {\n");
        status = carom_lane_write_group(&x->pair[x->of_pair - 1], group, names, false, x->write, x->user);
        put(x, "    }\n");
    }
    x->of_pair = 0;
    return status;
}

// What flexible members add to mass and forces, or to derivatives of forces.
static carom_status put_members(const text *x, int group) {
    if (x->m->nmember == 0) return CAROM_OK;
    if (group == GROUP_TANGENT) return carom_lane_member_tangents(x->m, x->write, x->user);
    if (group != GROUP_MOTION_GAPS) return CAROM_OK;
    char number[CAROM_NUMBER_TEXT];
    for (int e = 0; e < x->mass.n; ++e) {
        if (x->mass.value[e] == 0) continue;
        carom_native_number(x->mass.value[e], number);
        if (x->mass.term[e] >= 0)
            PUT(x, "    m[%d] = m[%d] + %s;\n", e, e, number);
        else
            PUT(x, "    m[%d] = T(of)(%s);\n", e, number);
    }
    return carom_lane_member_forces(x->m, x->write, x->user);
}

// y[r], or a number while one of the conditions (from 1; 0: none) does not hold.
static void put_while(const text *x, const char *y, int r, const int *needs, int n, double other) {
    char number[CAROM_NUMBER_TEXT];
    carom_native_number(other, number);
    PUT(x, "    %s[%d] = T(pick)(", y, r);
    for (int k = 0, some = 0; k < n; ++k)
        if (needs[k] > 0) PUT(x, "%sT(equal)(k[%d], T(of)(0))", some++ ? " & " : "", x->gate_place[needs[k] - 1]);
    PUT(x, ", %s[%d], T(of)(%s));\n", y, r, number);
}

// (CND-1)  A contact that is not there, or must not close, is far away and does not move.
// (CND-2)  No forces act on a body that is not there.
static void put_gates(const text *x, int group, int mode) {
    const carom_model *m = x->m;
    const bool gaps = group == GROUP_MOTION_GAPS || group == GROUP_GAPS;
    for (int i = 0; i < m->condition.n && group == GROUP_MOTION_GAPS; ++i) {
        const int b = m->condition.list[i].body, needs = i + 1;
        for (int e = 0; b >= 0 && m->bodies[b].v >= 0 && e < (m->bodies[b].space == SPATIAL ? 6 : 3); ++e)
            put_while(x, "f", m->bodies[b].v + e, &needs, 1, 0);
    }
    for (int c = 0; c < m->nc && m->condition.system && (gaps || group == GROUP_RATES); ++c) {
        const int *needs = m->condition.system->needs[c], id = m->ne + c, first = gaps ? id : x->row[id],
                  last = gaps ? id + 1 : x->row[id + 1];
        bool some = false;
        for (int k = 0; k < CAROM_NEEDS; ++k) some = some || needs[k] > 0;
        for (int r = first; r < last && some; ++r)
            put_while(x, mode == OUT_MOTION ? "g" : "out", r, needs, CAROM_NEEDS, gaps ? m->condition.system->gap : 0);
    }
}

carom_status lane_put_group(text *x, const char *head, int group, int mode) {
    const carom_lane_names names = {x, lane_input_name, lane_output_name, mode == OUT_MOTION};
    x->mode = mode;
    const bool check = group < 0;
    PUT(x, "\n%s {\n", head);
    put(x, check ? "    (void)t, (void)q, (void)v, (void)k, (void)a, (void)ledger, (void)out;\n"
                 : "    (void)t, (void)q, (void)k;\n");
    if (group == GROUP_MOTION_GAPS && x->m->nmember)
        PUT(x, "    real e[%d];\n", x->m->visible.nv_own + 1 + x->m->visible.compiled);
    carom_status status =
        carom_lane_write_group(check ? &x->check : &x->lane, check ? 0 : group, &names, check, x->write, x->user);
    const int of_pairs = check || mode == OUT_JOINTS ? -1 : group_of_pairs(group);
    if (status == CAROM_OK && of_pairs >= 0) status = put_pairs(x, of_pairs, &names);
    if (status == CAROM_OK) status = put_members(x, group);
    put_gates(x, group, mode);
    put(x, "}\n");
    return status;
}
