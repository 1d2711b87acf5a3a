// lanes_parts.c: the functions of a model in the text of lanes.
#include "sweep/lanes_text.h"
#include "base/tolerance.h"
#include "model/conditions.h"
#include "system/system.h"
#include <stdio.h>
#include <stdlib.h>

// -- the factor of M --------------------------------------------------------------------------------------------------

// Where L_ij, i > j, stands among the entries of L that are not zero, row by row; -1: it is.  Returns how many there
// are.
static int fill(const text *x, int at[MOST_V][MOST_V]) {
    const carom_model *m = x->m;
    int count = 0;
    for (int i = 0; i < m->nv; ++i)
        for (int j = 0; j < i; ++j) {
            bool full = lane_mass_entry(x, i, j) >= 0;
            for (int e = 0; e < j; ++e) full = full || (at[i][e] >= 0 && at[j][e] >= 0);
            at[i][j] = full ? count++ : -1;
        }
    return count;
}

// M = L D L' with L of unit diagonal, sparse as M allows, written out.  l: entries of L below the diagonal, then 1/D.
static void put_factor(const text *x) {
    const carom_model *m = x->m;
    static const char head[] =
        "\nDEVICE T(mask) T(factor)(const real *m, real *l) {\n    T(mask) good = T(equal)(m[0], m[0]);\n";
    int at[MOST_V][MOST_V];
    const int n = m->nv, count = fill(x, at);
    put(x, head);
    for (int j = 0; j < n; ++j) {
        PUT(x, "    real d%d = m[%d];\n", j, lane_mass_entry(x, j, j));
        for (int e = 0; e < j; ++e)
            if (at[j][e] >= 0) PUT(x, "    d%d = d%d - l[%d] * c%d_%d;\n", j, j, at[j][e], j, e);
        PUT(x, "    good = good & T(below)(0x1p-45 * m[%d], d%d);\n    l[%d] = 1.0 / d%d;\n",
            lane_mass_entry(x, j, j), j,
            count + j, j);
        for (int i = j + 1; i < n; ++i) {
            if (at[i][j] < 0) continue;
            const int e0 = lane_mass_entry(x, i, j);
            if (e0 >= 0)
                PUT(x, "    real c%d_%d = m[%d];\n", i, j, e0);
            else
                PUT(x, "    real c%d_%d = T(of)(0);\n", i, j);
            for (int e = 0; e < j; ++e)
                if (at[i][e] >= 0 && at[j][e] >= 0)
                    PUT(x, "    c%d_%d = c%d_%d - c%d_%d * l[%d];\n", i, j, i, j, i, e, at[j][e]);
            PUT(x, "    l[%d] = c%d_%d * l[%d];\n", at[i][j], i, j, count + j);
        }
    }
    put(x, "    return good;\n}\n\nDEVICE void T(solve)(const real *l, real *x) {\n");
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (at[i][j] >= 0) PUT(x, "    x[%d] = x[%d] - l[%d] * x[%d];\n", i, i, at[i][j], j);
    for (int i = n - 1; i >= 0; --i) {
        PUT(x, "    x[%d] = x[%d] * l[%d];\n", i, i, count + i);
        for (int j = i + 1; j < n; ++j)
            if (at[j][i] >= 0) PUT(x, "    x[%d] = x[%d] - l[%d] * x[%d];\n", i, i, at[j][i], j);
    }
    put(x, "}\n");
}

// -- joints -----------------------------------------------------------------------------------------------------------

// Which velocities the rows of joints have, in W and in M^-1 W.
typedef struct joint_rows {
    bool W[MOST_E][MOST_V], y[MOST_E][MOST_V], G[MOST_E][MOST_E];
    bool diagonal;
} joint_rows;

static void find_rows(const text *x, joint_rows *p) {
    const carom_model *m = x->m;
    *p = (joint_rows){.diagonal = true};
    for (int e = 0; e < x->mass.n; ++e) p->diagonal = p->diagonal && x->mass.i[e] == x->mass.j[e];
    for (int e = 0; e < m->W.n; ++e) {
        const int r = lane_row_of(x, m->W.j[e]);
        if (r >= 0 && r < m->ne) p->W[r][m->W.i[e]] = true;
    }
    for (int i = 0; i < m->ne; ++i)
        for (int e = 0; e < m->nv; ++e) p->y[i][e] = p->W[i][e] || !p->diagonal;
    for (int i = 0; i < m->ne; ++i)
        for (int j = 0; j < m->ne; ++j)
            for (int e = 0; e < m->nv; ++e) p->G[i][j] = p->G[i][j] || (p->W[i][e] && p->y[j][e]);
}

static const double REDUNDANT = 1e-10; // of G's diagonal: a pivot that has cancelled

static void put_hold(const text *x, joint_rows *p) {
    const carom_model *m = x->m;
    const int n = m->ne;
    int at[MOST_V][MOST_V];
    const int count = fill(x, at);
    put(x, "\n// y = M^-1 W by rows, G: factors of X'y.  Mask: no pivot has cancelled.\n"
           "DEVICE T(mask) T(hold)(const real *X, const real *W, const real *l, real *y, real *G) {\n"
           "    T(mask) good = T(equal)(l[0], l[0]);\n");
    for (int i = 0; i < n; ++i) {
        for (int e = 0; e < m->nv; ++e) {
            const int k = i * m->nv + e;
            if (p->diagonal && p->y[i][e])
                PUT(x, "    y[%d] = W[%d] * l[%d];\n", k, k, count + e);
            else if (!p->diagonal && p->W[i][e])
                PUT(x, "    y[%d] = W[%d];\n", k, k);
            else if (!p->diagonal)
                PUT(x, "    y[%d] = T(of)(0);\n", k);
        }
        if (!p->diagonal) PUT(x, "    T(solve)(l, y + %d);\n", i * m->nv);
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (!p->G[i][j]) continue;
            PUT(x, "    real g%d_%d = ", i, j);
            for (int e = 0, some = 0; e < m->nv; ++e)
                if (p->W[i][e] && p->y[j][e])
                    PUT(x, "%sX[%d] * y[%d]", some++ ? " + " : "", i * m->nv + e, j * m->nv + e);
            put(x, ";\n");
            if (i == j) PUT(x, "    const real s%d = %g * T(abs)(g%d_%d);\n", i, REDUNDANT, i, i);
        }
    for (int j = 0; j < n; ++j) {
        PUT(x, "    good = good & T(below)(s%d, T(abs)(g%d_%d));\n", j, j, j);
        PUT(x, "    const real d%d = 1.0 / g%d_%d;\n", j, j, j);
        for (int i = j + 1; i < n; ++i) {
            if (!p->G[i][j]) continue;
            PUT(x, "    g%d_%d = g%d_%d * d%d;\n", i, j, i, j, j);
            for (int e = j + 1; e < n; ++e) {
                if (!p->G[j][e]) continue;
                if (p->G[i][e])
                    PUT(x, "    g%d_%d = g%d_%d - g%d_%d * g%d_%d;\n", i, e, i, e, i, j, j, e);
                else
                    PUT(x, "    real g%d_%d = -(g%d_%d * g%d_%d);\n", i, e, i, j, j, e);
                p->G[i][e] = true;
            }
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (i == j) PUT(x, "    G[%d] = d%d;\n", i * n + i, i);
            else if (p->G[i][j]) PUT(x, "    G[%d] = g%d_%d;\n", i * n + j, i, j);
        }
    put(x, "    return good;\n}\n\n// u = -(X'y)^-1 u\nDEVICE void T(held)(const real *G, real *u) {\n");
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (p->G[i][j]) PUT(x, "    u[%d] = u[%d] - G[%d] * u[%d];\n", i, i, i * n + j, j);
    for (int i = n - 1; i >= 0; --i) {
        for (int e = i + 1; e < n; ++e)
            if (p->G[i][e]) PUT(x, "    u[%d] = u[%d] + G[%d] * u[%d];\n", i, i, i * n + e, e);
        PUT(x, "    u[%d] = -(u[%d] * G[%d]);\n", i, i, i * n + i);
    }
    put(x, "}\n");
}

// Joints without closed contacts, written out where W and M have entries.
static carom_status put_joints(text *x) {
    const carom_model *m = x->m;
    joint_rows *p = calloc(1, sizeof *p);
    if (!p) return CAROM_NO_MEMORY;
    find_rows(x, p);
    carom_status status = lane_put_group(x,
        "DEVICE void T(joints)(real t, const real *q, const real *k, real *W, real *w)",
                                    GROUP_DIRECTIONS, OUT_JOINTS);
    put(x, "\nDEVICE void T(joint_rates)(const real *W, const real *w, const real *v, real *u) {\n");
    for (int i = 0; i < m->ne; ++i) {
        PUT(x, "    u[%d] = w[%d]", i, i);
        for (int e = 0; e < m->nv; ++e)
            if (p->W[i][e]) PUT(x, " + W[%d] * v[%d]", i * m->nv + e, e);
        put(x, ";\n");
    }
    put(x, "}\n\nDEVICE void T(pull)(const real *y, const real *p, real weight, real *x) {\n");
    for (int e = 0; e < m->nv; ++e)
        for (int i = 0; i < m->ne; ++i)
            if (p->y[i][e]) PUT(x, "    x[%d] = x[%d] + weight * p[%d] * y[%d];\n", e, e, i, i * m->nv + e);
    put(x, "}\n");
    put_hold(x, p);
    free(p);
    return status;
}

// -- moving -----------------------------------------------------------------------------------------------------------

// Axis `column` of a joint in body b, which turns or stands, as w in the world.
static void put_axis(const text *x, const body *b, const double *X, int column, const char *w) {
    char number[CAROM_NUMBER_TEXT];
    PUT(x, "        real %s[3];\n        {\n        const double s[3] = {", w);
    for (int i = 0; i < 3; ++i) {
        double a = X[3 * i + column];
        if (b->v < 0) {
            a = 0;
            for (int e = 0; e < 3; ++e) a += b->R0[3 * i + e] * X[3 * e + column];
        }
        carom_native_number(a, number);
        PUT(x, "%s%s", i ? ", " : "", number);
    }
    if (b->v >= 0)
        PUT(x, "};\n        T(world)(q_1 + %d, s, %s);\n        }\n", b->orientation, w);
    else
        PUT(x, "};\n        for (int i = 0; i < 3; ++i) %s[i] = T(of)(s[i]);\n        }\n", w);
}

static void put_angle(const text *x, const joint *j) {
    put(x, "    {\n");
    put_axis(x, j->A, j->X_A, 0, "x_A");
    put_axis(x, j->A, j->X_A, 1, "y_A");
    put_axis(x, j->B, j->X_B, 0, "x_B");
    PUT(x, "        q_1[%d] = T(nearest_angle)(x_A, y_A, x_B, q_0[%d]);\n    }\n", j->at, j->at);
}

// -- parts ------------------------------------------------------------------------------------------------------------

static void put_ints(const text *x, const char *name, const int *value, int n) {
    PUT(x, "CONSTANT int %s[] = {", name);
    for (int i = 0; i < n; ++i) PUT(x, "%s%d", i ? ", " : "", value[i]);
    put(x, n ? "};\n" : "0};\n");
}

// (LV-1), (LV-2)  By velocity, then by position; first-order states do not count among lengths.
static void put_levers(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    put(x, "CONSTANT double LEVER[] = {");
    for (int i = 0; i < m->nv + m->nq; ++i) {
        const int state = (i < m->nv ? i : i - m->nv) - m->state.first;
        carom_native_number(state >= 0 && state < m->state.n ? 0 : m->sys.lever ? m->sys.lever[i] : 1, number);
        PUT(x, "%s, ", number);
    }
    put(x, "};\n");
}

// Row, velocity and position of dW; those of pairs that share stand behind those of the model and dw.
static void put_gradients(const text *x) {
    const carom_model *m = x->m;
    const int all = lane_shared_gradient(m, m->pairs + m->npairs);
    static const char *const name[] = {"DW_R", "DW_I", "DW_L"};
    PUT(x, "enum { NDM = %d, NDW = %d, NDw = %d, NDWS = %d };\n", m->dM.n, m->dW.n, m->dw.n, all);
    for (int which = 0; which < 3; ++which) {
        PUT(x, "CONSTANT int %s[] = {", name[which]);
        for (int e = 0; e < m->dW.n; ++e)
            PUT(x, "%d, ", which == 0 ? lane_row_of(x, m->dW.j[e]) : which == 1 ? m->dW.i[e] : m->dW.l[e]);
        for (int e = 0; e < m->dw.n; ++e) put(x, "-1, ");
        for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
            const carom_model *two = p->shares ? m->kinds[p->kind].two : NULL;
            for (int e = 0; two && e < two->dW.n; ++e)
                PUT(x, "%d, ",
                    which == 0   ? lane_row_of(x, m->links[p->first].dir + two->dW.j[e])
                    : which == 1 ? carom_kind_velocity(&m->kinds[p->kind], p, two->dW.i[e])
                                 : carom_kind_velocity(&m->kinds[p->kind], p, two->dW.l[e]));
        }
        put(x, "-1};\n");
    }
}

static void put_sizes(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    if (!lane_pair_shares(m)) return;
    put(x, "CONSTANT double SIZES[] = { // of the shapes of each pair\n");
    for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
        double size[MOST_SIZES] = {0};
        if (p->shares) carom_kind_sizes(&m->kinds[p->kind], p, size);
        for (int i = 0; i < MOST_SIZES; ++i) {
            carom_native_number(size[i], number);
            PUT(x, "%s,", number);
        }
        put(x, "\n");
    }
    put(x, "};\n");
}

// Controllers, gates and jumps in time.
static void put_signals(const text *x) {
    const carom_model *m = x->m;
    char a[CAROM_NUMBER_TEXT], b[CAROM_NUMBER_TEXT];
    PUT(x, "#define NCONTROL %d\n#define NSAMPLERS %d\n#define NGATES %d\n#define NJUMPS %d\n", m->signal.nnodes,
        m->signal.ncontrols, m->condition.n, x->njumps);
    put(x, "CONSTANT char GATED[] = {");
    for (int c = 0; c < m->nc; ++c) PUT(x, "%d, ", carom_system_closes_while(&m->sys, c));
    put(x, "0};\nCONSTANT int GATE[][5] = {"); // contact, place in k, condition, velocities of a body
    for (int i = 0; i < m->condition.n; ++i) {
        const body *b = m->condition.list[i].body < 0 ? NULL : &m->bodies[m->condition.list[i].body];
        const bool moves = b && b->v >= 0;
        PUT(x, "{%d, %d, %d, %d, %d}, ", m->sys.conditional->contact_of[i], x->gate_place[i], m->condition.first + i,
            moves ? b->v : 0, !moves ? 0 : b->space == SPATIAL ? 6 : 3);
    }
    put(x, "{0}};\nCONSTANT int SAMPLER[][9] = {");
    for (int k = 0; k < m->signal.ncontrols; ++k) {
        const control *c = &m->signal.control[k];
        const carom_sampler *s = &m->signal.sampler[k];
        PUT(x, "{%.0f, %.0f, %.0f, %d, %d, %d, %d, %d, %d}, ", steps_of(x, s->offset), steps_of(x, s->sample),
            steps_of(x, s->delay), c->first, c->noutputs, c->nstates, c->noutputs ? x->place[m->np_own + c->output] : 0,
            c->noutputs && s->delay > 0 ? x->place[m->np_own + c->pending] : 0,
            c->nstates ? x->place[m->np_own + c->state] : 0);
    }
    put(x, "{0}};\nCONSTANT double SAMPLE[][3] = {"); // offset, sample time, delay
    for (int k = 0; k < m->signal.ncontrols; ++k) {
        carom_native_number(m->signal.sampler[k].offset, a), carom_native_number(m->signal.sampler[k].sample, b);
        PUT(x, "{%s, %s, ", a, b);
        carom_native_number(m->signal.sampler[k].delay, a);
        PUT(x, "%s}, ", a);
    }
    put(x, "{0}};\nCONSTANT double JUMP[] = {");
    for (int i = 0; i < x->njumps; ++i) {
        carom_native_number(x->jump[i], a);
        PUT(x, "%s, ", a);
    }
    carom_native_number(m->times.nswitches && x->r->beside ? x->r->until : 0x1.fffffffffffffp1023, a);
    PUT(x, "0};\n#define JUMPS_UNTIL %s\n", a);
}

// Rows of sliding, rolling and spinning of every contact; of sliding alone where no contact has others: it costs less.
static void put_discs(const text *x) {
    const carom_model *m = x->m;
    int discs = 1;
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].disc[0] && m->contacts[c].disc[0] < m->links[m->ne + c].ndir - 1) discs = 3;
    PUT(x, "enum { DISCS = %d };\nCONSTANT int DISC[][DISCS] = {", discs);
    for (int c = 0; c < m->nc; ++c) {
        const int *disc = m->contacts[c].disc, rows = m->links[m->ne + c].ndir - 1, slides = disc[0] ? disc[0] : rows;
        const int each[3] = {rows ? slides : 0, rows ? disc[1] : 0, rows ? rows - slides - disc[1] : 0};
        for (int k = 0; k < discs; ++k) PUT(x, "%s%d", k ? ", " : "{", each[k]);
        put(x, "}, ");
    }
    put(x, "{0}};\n");
}

static void put_tables(const text *x) {
    const carom_model *m = x->m;
    const int links = m->ne + m->nc;
    int at[MOST_V][MOST_V];
    PUT(x, "enum { NQ = %d, NV = %d, NE = %d, NC = %d, NB = %d, NR = %d, NM = %d, NK = %d,\n", m->nq, m->nv, m->ne,
        m->nc, links, x->row[links], x->mass.n, x->nk);
    PUT(x, "       NX = %d, NOBSERVE = %d, NWATCH = %d, STEADY = %d, NL = %d };\n", x->r->nvary, x->r->nobserve,
        m->nwatch, (m->sys.flags & CAROM_CONSTANT_DIRECTIONS) && (m->sys.flags & CAROM_TIMELESS_GAPS),
        fill(x, at) + m->nv);
    int rows = 0; // of the largest contacts, as many as may be closed at once
    const int closed = m->nc < MOST_CLOSED ? m->nc : MOST_CLOSED;
    for (int n = 1; n <= 1 + CAROM_TANGENTS; ++n) {
        int count = 0;
        for (int c = 0; c < m->nc; ++c) count += m->links[m->ne + c].ndir >= n;
        rows += count < closed ? count : closed;
    }
    PUT(x, "enum { NS = %d, NP = %d }; // constraints and rows that are closed at once\n", m->ne + closed,
        m->ne + rows);
    PUT(x, "#define MANY %d // contacts\n", m->nc > MOST_CLOSED);
    PUT(x, "#define STARTS %d\n#define JOINTS %d\n#define FEATURES %d\n", x->starts, m->ne,
        m->sys.events->freeze != NULL);
    put_levers(x);
    put_sizes(x);
    lane_put_classes(x);
    put_signals(x);
    carom_lane_member_tables(m, x->write, x->user);
    PUT(x, "#define NWATCHED %d\n", m->nwatch);
    PUT(x, "#define OTHER_LAWS %d\n#define NBOUNCE %d\n", carom_lanes_other_laws(m), m->bounce.n);
    PUT(x, "#define BODIES_COME %d\n", lane_bodies_come(m));
    put(x, "CONSTANT int REACTING[] = {"); // joints and contacts on whose reactions friction depends
    for (int i = 0; i < m->friction.nreacting; ++i) PUT(x, "%d, ", m->friction.reacting[i]);
    PUT(x, "0};\n#define NREACTING %d\n", m->friction.nreacting);
    put_ints(x, "MASS_I", x->mass.i, x->mass.n), put_ints(x, "MASS_J", x->mass.j, x->mass.n);

    put_ints(x, "ROW", x->row, links + 1);
    put_discs(x);
    PUT(x, "enum { NRUB = %d, RUB_LAW = %d }; // contacts whose friction varies, and numbers of each\n", m->friction.n,
        CAROM_FRICTION_LAW);
    put(x, "CONSTANT int RUB[] = {");
    for (int c = 0; c < m->nc; ++c) PUT(x, "%d, ", m->contacts[c].friction_varies ? m->friction.of[c] : -1);
    put(x, "0};\n");
    if (!x->r->jean) return;
    put_ints(x, "DM_I", m->dM.i, m->dM.n), put_ints(x, "DM_J", m->dM.j, m->dM.n), put_ints(x, "DM_L", m->dM.l, m->dM.n);
    put_gradients(x);
    PUT(x, "CONSTANT int Dw_R[] = {");
    for (int e = 0; e < m->dw.n; ++e) PUT(x, "%d, ", lane_row_of(x, m->dw.i[e]));
    put(x, "0};\n");
    put_ints(x, "Dw_L", m->dw.j, m->dw.n);
}

// (BOD-3), (JNT-5)  q_1 = q_0 moved along v for h; q_1 may be q_0.
static void put_move(const text *x) {
    const carom_model *m = x->m;
    put(x, "\nDEVICE void T(move)(real *q_1, const real *q_0, real h, const real *v) {\n");
    if (!carom_model_turns(m)) put(x, "    for (int i = 0; i < NQ; ++i) q_1[i] = q_0[i] + h * v[i];\n");
    for (int i = 0; carom_model_turns(m) && i < m->nq; ++i)
        if (m->velocity_of[i] >= 0) PUT(x, "    q_1[%d] = q_0[%d] + h * v[%d];\n", i, i, m->velocity_of[i]);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0 && b->space == SPATIAL)
            PUT(x, "    T(turn)(q_1 + %d, q_0 + %d, h, v + %d);\n", b->orientation, b->orientation, b->v + 3);
    }
    for (int i = 0; i < m->njoints; ++i) {
        const joint *j = &m->joints[i];
        if (j->at >= 0) put_angle(x, j);
    }
    put(x, "}\n");
}

// (BOD-4)  The rates of the displacement x at v.
static void put_lift(const text *x) {
    const carom_model *m = x->m;
    put(x, "\nDEVICE void T(lifted)(real *dx, const real *x, const real *v) {\n    (void)x;\n"
           "    for (int i = 0; i < NV; ++i) dx[i] = v[i];\n");
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0 && b->space == SPATIAL)
            PUT(x, "    T(lift)(dx + %d, x + %d, v + %d);\n", b->v + 3, b->v + 3, b->v + 3);
    }
    put(x, "}\n");
}

static carom_status put_typed(text *x) {
#define POINT "real t, const real *q, const real *v, const real *k"
    const carom_model *m = x->m;
    if (lane_pair_shares(m)) {
        CAROM_TRY(lane_put_kinds(x, true));
        CAROM_TRY(lane_put_group(x,
                "NOINLINE void T(bounds)(real t, const real *q, const real *k, real *out)", GROUP_BOUNDS,
                            OUT_ALL));
        CAROM_TRY(lane_put_group(x, "NOINLINE void T(bound_rates)(" POINT ", real *out)", GROUP_BOUND_RATES, OUT_ALL));
    }
    CAROM_TRY(lane_put_group(x, "DEVICE void T(motion)(" POINT ", real *f, real *m, real *g, T(mask) *far)",
                        GROUP_MOTION_GAPS, OUT_MOTION));
    CAROM_TRY(
        lane_put_group(x, "DEVICE void T(gaps)(real t, const real *q, const real *k, real *out)", GROUP_GAPS, OUT_ALL));
    CAROM_TRY(lane_put_group(x, "DEVICE void T(rates)(" POINT ", real *out)", GROUP_RATES, OUT_ROWS));
    if (m->nwatch) CAROM_TRY(lane_put_group(x, "DEVICE void T(watch)(" POINT ", real *out)", GROUP_WATCH, OUT_ALL));
    if (x->r->section == CAROM_LANES_CROSSING)
        CAROM_TRY(lane_put_group(x,
                "DEVICE void T(crossing)(" POINT ", const real *a, const real *ledger, real *out)", -1,
                            OUT_ONE + 2 * m->nchecks + x->r->nobserve));
    if (x->r->jean) {
        CAROM_TRY(lane_put_group(x, "DEVICE void T(tangent)(" POINT ", real *K, real *C)", GROUP_TANGENT, OUT_KC));
        CAROM_TRY(lane_put_group(x, "DEVICE void T(mass_gradient)(real t, const real *q, const real *k, real *out)",
                            GROUP_MASS_GRADIENT, OUT_ALL));
    }
    put_factor(x);
    put_move(x);
    put_lift(x);
    return m->ne ? put_joints(x) : CAROM_OK;
}

// Laws of impact: of each contact the law, whether it is struck alone, and which of the restitutions that vary is its.
static carom_status put_impacts(text *x) {
    const carom_model *m = x->m;
    const carom_lane_names names = {x, lane_input_name, lane_output_name, false};
    carom_status status = CAROM_OK;
    if (!carom_lanes_other_laws(m)) return CAROM_OK;
    put(x, "\nCONSTANT int LAW_OF_IMPACT[][3] = {");
    for (int c = 0; c < m->nc; ++c)
        PUT(x, "{%d, %d, %d}, ", m->contacts[c].impact, m->contacts[c].sequential,
            m->contacts[c].varies ? m->bounce.of[c] : -1);
    put(x, "{0}};\n\n// t: speed of approach\n"
           "DEVICE void restitutions(double t, double *out) {\n    (void)t, (void)out;\n");
    x->mode = OUT_ALL;
    if (m->bounce.tape) status = carom_lane_write_group(&x->bounce, 0, &names, true, x->write, x->user);
    put(x, "}\n");
    return status;
}

// Friction that varies: of each contact the coefficients in slip and in stick, and the tangential velocities.
static carom_status put_friction(text *x) {
    const carom_lane_names names = {x, lane_input_name, lane_output_name, false};
    carom_status status = CAROM_OK;
    put(x, "\nDEVICE void friction_laws(double t, const double *q, const double *v, const double *k, const double "
           "*reaction, double *out) {\n    (void)t, (void)q, (void)v, (void)k, (void)reaction, (void)out;\n");
    x->mode = OUT_ALL, x->of_rub = true;
    if (x->m->friction.tape) status = carom_lane_write_group(&x->rub, 0, &names, true, x->write, x->user);
    x->of_rub = false;
    put(x, "}\n");
    return status;
}

// A constant that differs: where it goes.
static void target_of(const text *x, int value, char s[CAROM_SLOT_NAME]) {
    const carom_lane_value *v = &x->value[value];
    const int law = (int)v->kind - CAROM_LANE_RESTITUTION;
    switch (v->kind) {
    case CAROM_LANE_PARAMETER: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->place[v->index]); break;
    case CAROM_LANE_POSITION: snprintf(s, CAROM_SLOT_NAME, "q[%d]", v->index); break;
    case CAROM_LANE_RATE: snprintf(s, CAROM_SLOT_NAME, "v[%d]", v->index); break;
    case CAROM_LANE_RANGE: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->range_place[v->index]); break;
    default: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->law_place[3 * v->index + law]);
    }
}

static carom_status put_value(text *x, int value) {
    const carom_lane_names names = {x, lane_input_name, lane_output_name, false};
    char target[CAROM_SLOT_NAME];
    target_of(x, value, target);
    PUT(x, "    {\n    double *out = &%s;\n", target);
    x->mode = OUT_ONE + 2 * x->m->nchecks + first_value(x) + value;
    const carom_status status = carom_lane_write_group(&x->check, 0, &names, true, x->write, x->user);
    put(x, "    }\n");
    return status;
}

// What depends on k alone, in k.
static carom_status put_refresh(text *x) {
    const carom_lane_names names = {x, lane_input_name, lane_output_name, false};
    put(x, "\nDEVICE void refresh(double *k) {\n    (void)k;\n");
    carom_status status = carom_lane_write_constants(&x->lane, &names, x->write, x->user);
    for (int i = 0; i < x->m->npairs && status == CAROM_OK; ++i) {
        if (x->m->pairs[i].shares) continue;
        put(x, "    {\n");
        status = carom_lane_write_constants(&x->pair[i], &names, x->write, x->user);
        put(x, "    }\n");
    }
    put(x, "}\n");
    return status;
}

// k, and the initial state.  x: what is varied.
static carom_status put_setup(text *x) {
    const carom_model *m = x->m;
    int which;
    char number[CAROM_NUMBER_TEXT];
    put(x, "\nDEVICE void setup(const double *x, double *k, double *q, double *v) {\n    (void)x, (void)k;\n");
    bool *known = calloc((size_t)m->np + 1, sizeof *known);
    if (!known) return CAROM_NO_MEMORY;
    carom_status status = CAROM_OK;
    for (int i = 0; i < m->condition.n; ++i) PUT(x, "    k[%d] = 0;\n", x->gate_place[i]);
    for (int p = m->np_own + m->signal.nset; p < m->np; ++p) { // signals of controllers, as they start
        carom_native_number(m->parameter[p], number);
        PUT(x, "    k[%d] = %s;\n", x->place[p], number);
    }
    for (int p = 0; p < m->np; ++p) {
        known[p] = !x->moves[p] || lane_varied(x, p, &which);
        if (x->moves[p] && known[p]) PUT(x, "    k[%d] = x[%d];\n", x->place[p], which);
    }
    for (bool more = true; more && status == CAROM_OK;) { // in the order in which they need each other
        more = false;
        for (int i = 0; i < x->nvalues && status == CAROM_OK; ++i) {
            const carom_lane_value *v = &x->value[i];
            if (v->kind != CAROM_LANE_PARAMETER || known[v->index]) continue;
            bool ready = true;
            for (int p = 0; p < m->np; ++p)
                ready = ready && (known[p] || !carom_graph_depends(m->graph, node_of(x, i), CAROM_PARAMETER, p));
            if (!ready) continue;
            status = put_value(x, i);
            known[v->index] = more = true;
        }
    }
    free(known);
    for (int i = 0; i < m->nq + m->nv; ++i) {
        carom_native_number(i < m->nq ? m->q0[i] : m->v0[i - m->nq], number);
        PUT(x, "    %c[%d] = %s;\n", i < m->nq ? 'q' : 'v', i < m->nq ? i : i - m->nq, number);
    }
    for (int i = 0; i < x->nvalues && status == CAROM_OK; ++i)
        if (x->value[i].kind != CAROM_LANE_PARAMETER && x->value[i].kind < CAROM_LANE_STEP && lane_depends(x, i))
            status = put_value(x, i);
    for (int i = 0; i < x->r->nvary; ++i) {
        if (x->r->vary[i].kind == CAROM_LANE_POSITION) PUT(x, "    q[%d] = x[%d];\n", x->r->vary[i].index, i);
        if (x->r->vary[i].kind == CAROM_LANE_RATE) PUT(x, "    v[%d] = x[%d];\n", x->r->vary[i].index, i);
    }
    put(x, "    refresh(k);\n}\n");
    return status;
}

// As fits() of set.c: what becomes zero, or stops being it, changes the structure.
static void put_ranges(const text *x) {
    put(x, "\nDEVICE int fits(const double *k) {\n    (void)k;\n");
    for (int i = 0; i < x->m->nbound; ++i) {
        const bound *b = &x->m->bound[i];
        const int at = x->range_place[i];
        if (at < 0) continue;
        if (b->kind == BOUND_MASS)
            PUT(x, "    if (!(k[%d] > 0)) return 0;\n", at);
        else
            PUT(x, "    if ((k[%d] != 0) != %d) return 0;\n", at, b->value != 0);
        if (b->kind == BOUND_COEFFICIENT) PUT(x, "    if (!(k[%d] >= 0)) return 0;\n", at);
    }
    put(x, "    return 1;\n}\n");
}

static void put_law(const text *x, const char *name, int which) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    PUT(x, "\nDEVICE double %s(const double *k, int c) {\n    (void)k, (void)c;\n", name);
    for (int c = 0; c < m->nc; ++c) {
        const carom_contact *l = &m->contacts[c];
        const double value = which == 0 ? l->restitution : which == 1 ? l->tangential_restitution : l->friction;
        if (x->law_moves[3 * c + which])
            snprintf(number, sizeof number, "k[%d]", x->law_place[3 * c + which]);
        else
            carom_native_number(value, number);
        PUT(x, "    if (c == %d) return %s;\n", c, number);
    }
    put(x, "    return 0;\n}\n");
}

static carom_status put_single(text *x) {
    const carom_model *m = x->m;
    CAROM_TRY(lane_put_kinds(x, false));
    CAROM_TRY(lane_put_group(x,
            "DEVICE void directions(double t, const double *q, const double *k, double *W, double *w)",
                        GROUP_DIRECTIONS, OUT_DIRECTIONS));
    CAROM_TRY(
        lane_put_group(x,
            "DEVICE void curvature(double t, const double *q, const double *v, const double *k, double *out)",
                  GROUP_CURVATURE, OUT_ROWS));
    if (x->r->jean)
        CAROM_TRY(lane_put_group(x,
                "DEVICE void rate_gradient(double t, const double *q, const double *k, double *out)",
                            GROUP_RATE_GRADIENT, OUT_GRADIENT));
    CAROM_TRY(lane_put_group(x,
                        "DEVICE void observe(double t, const double *q, const double *v, const double *k, const double "
                        "*a, const double *ledger, double *out)",
                        -1, OUT_OBSERVE));
    if (x->r->section == CAROM_LANES_PERIOD) {
        CAROM_TRY(lane_put_group(x,
                            "DEVICE void period_of(double t, const double *q, const double *v, const double *k, const "
                            "double *a, const double *ledger, double *out)",
                            -1, OUT_ONE + 2 * m->nchecks + x->r->nobserve));
        put(x, "DEVICE double section_period(const double *k) {\n    double T = 0;\n    period_of(0, 0, 0, k, 0, 0, "
               "&T);\n    return T;\n}\n");
    } else {
        put(x, "DEVICE double section_period(const double *k) { return (void)k, 0; }\n");
    }
    put_law(x, "restitution", 0);
    put_law(x, "tangential_restitution", 1);
    put_law(x, "friction", 2);
    CAROM_TRY(put_impacts(x));
    CAROM_TRY(put_friction(x));
    // Friction that the run has and the text has no directions for.
    put(x, "\nDEVICE int rubs_outside(const double *k) {\n    (void)k;\n");
    for (int c = 0; c < m->nc; ++c)
        if (m->links[m->ne + c].ndir == 1) PUT(x, "    if (friction(k, %d) > 0) return 1;\n", c);
    put(x, "    return 0;\n}\n");
    put_ranges(x);
    CAROM_TRY(put_refresh(x));
    if (m->signal.nnodes)
        CAROM_TRY(lane_put_group(
            x, "DEVICE void control(double t, const double *q, const double *v, const double *k, double *out)",
            GROUP_CONTROL, OUT_ALL));
    return put_setup(x);
}

carom_status carom_lanes_write(const carom_model *m, const carom_lane_request *r, int part, carom_write_text *write,
                               void *user, carom_error *err) {
    text x = {.m = m, .r = r, .write = write, .user = user};
    carom_status status = lane_open(&x, err);
    if (status == CAROM_OK && part == CAROM_LANES_TABLES) put_tables(&x);
    if (status == CAROM_OK && part != CAROM_LANES_TABLES) {
        status = part == CAROM_LANES_TYPED ? put_typed(&x) : put_single(&x);
        if (status != CAROM_OK) carom_fail(err, status, "not enough memory for the text of lanes");
    }
    lane_shut(&x);
    return status;
}
