// native.c: a tape as C text: for the loader of compiled models, and as functions for people.
//
// For the loader:
//   (1) a piece is a segment, or a part of a long one: compilers take more than linear time for long functions;
//   (2) inside a piece every slot is a local variable; it is written to memory only when another piece or an output
//       reads it;
//   (3) one statement is one instruction, in the order of the tape, and compilers are told not to contract: the same
//   bits; (4) numbers are written into the text, except exponents of pow(), which compilers would replace by products.
// Segments of parameters run once per run and stay with the interpreter.
#include "expr/curve.h"
#include "expr/graph.h"
#include "expr/native.h"
#include "expr/tape.h"
#include "expr/value.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 300 }; // instructions in a piece: gcc -O2 takes about 0.1 ms for each up to there

typedef struct writer {
    const carom_tape *tape;
    const char *name;
    carom_write_text *write;
    void *user;
    int *piece;          // by slot: the piece that computes it, -1: a leaf; in functions for people 1: read by somebody
    unsigned char *kept; // by slot: read by another piece or an output
    int *local;          // by slot: == number of the function in which it is a variable
    int function;        // written so far
    bool alone;          // this one leaves nothing in slots
    carom_slot_name *slot_name; // of leaves, in functions for people; NULL: slots are places of x
} writer;

static void put(const writer *w, const char *text) { w->write(w->user, text, strlen(text)); }

// -- what an instruction reads and writes ------------------------------------------------------------

bool carom_native_of_pairs(int op) {
    return op == CAROM_OP_LINE_1 || op == CAROM_OP_LINE_2 || op == CAROM_OP_RING_1 || op == CAROM_OP_RING_2;
}

int carom_native_writes(const carom_instruction *i, int slot[2]) {
    slot[0] = i->dst;
    slot[1] = i->op == CAROM_TAPE_SINCOS ? i->b : i->dst + 1;
    return i->op == CAROM_TAPE_SINCOS || i->op == CAROM_OP_PAIR ? 2 : 1;
}

int carom_native_reads(const carom_instruction *i, int slot[6]) {
    if (carom_native_of_pairs(i->op)) {
        const int all[6] = {i->a, i->a + 1, i->b, i->b + 1, i->c, i->c + 1};
        memcpy(slot, all, sizeof all);
        return 6;
    }
    if (i->op == CAROM_TAPE_SINCOS || i->op == CAROM_OP_CURVE) return slot[0] = i->a, 1;
    if (i->op == CAROM_OP_PAIR) return slot[0] = i->a, slot[1] = i->b, 2;
    const int arg[4] = {i->a, i->b, i->c, i->d};
    const char *form = carom_native_form(i->op);
    int n = 0;
    for (int k = 0; k < 4; ++k)
        if (strchr(form, 'A' + k)) slot[n++] = arg[k];
    return n;
}

// -- the text of an instruction ----------------------------------------------------------------------

const char *carom_native_form(int op) {
    switch (op) {
#define X(name, value, lanes) case CAROM_OP_##name: return #value;
    CAROM_PLAIN(X)
#undef X
#define FUSED(name, value) case CAROM_TAPE_##name: return #value;
    CAROM_FUSED(FUSED)
#undef FUSED
    default: return "";
    }
}

void carom_native_number(double x, char text[CAROM_NUMBER_TEXT]) {
    uint64_t bits;
    if (!isfinite(x)) {
        strcpy(text, isnan(x) ? "NAN" : x > 0 ? "INFINITY" : "(-INFINITY)");
        return;
    }
    memcpy(&bits, &x, sizeof bits);
    const uint64_t fraction = bits & 0xfffffffffffff;
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const char *open = bits >> 63 ? "(-" : "", *close = bits >> 63 ? ")" : "";
    if (exponent == 0 && fraction == 0) snprintf(text, CAROM_NUMBER_TEXT, "%s0.0%s", open, close);
    else if (exponent == 0) snprintf(text, CAROM_NUMBER_TEXT, "%s0x0.%013" PRIx64 "p-1022%s", open, fraction, close);
    // short: larger ones are written like all others
    else if (fabs(x) < 1e6 && x == floor(x)) snprintf(text, CAROM_NUMBER_TEXT, "%s%ld.0%s", open, (long)fabs(x), close);
    else snprintf(text, CAROM_NUMBER_TEXT, "%s0x1.%013" PRIx64 "p%+d%s", open, fraction, exponent - 1023, close);
}

static void put_number(const writer *w, double x) {
    char text[CAROM_NUMBER_TEXT];
    carom_native_number(x, text);
    put(w, text);
}

const double *carom_native_number_in(const carom_tape *tape, int slot) {
    const int first = 1 + tape->nq + tape->nv + tape->nparameters;
    return slot < first || slot >= first + tape->nnumbers ? NULL : &tape->number[slot - first];
}

// Name of the input in this slot; false: it is computed.
static bool put_leaf(const writer *w, int slot, char text[CAROM_SLOT_NAME]) {
    const carom_tape *t = w->tape;
    const int n[] = {1, t->nq, t->nv, t->nparameters};
    static const carom_input kind[] = {CAROM_TIME, CAROM_POSITION, CAROM_VELOCITY, CAROM_PARAMETER};
    for (int k = 0; k < 4; slot -= n[k++])
        if (slot < n[k]) return w->slot_name(w->user, kind[k], slot, text), true;
    return false;
}

static void put_argument(const writer *w, int slot, bool opaque) {
    const double *number = opaque ? NULL : carom_native_number_in(w->tape, slot);
    char text[CAROM_SLOT_NAME];
    if (w->slot_name && opaque && (number = carom_native_number_in(w->tape, slot)) != NULL) {
        put(w, "opaque(");
        put_number(w, *number);
        put(w, ")");
    } else if (number) put_number(w, *number);
    else if (w->slot_name && put_leaf(w, slot, text)) put(w, text);
    else if (w->local[slot] == w->function) PUT(w, "s%d", slot);
    else PUT(w, "x[%d]", slot);
}

static void put_value(const writer *w, const carom_instruction *i) {
    const int arg[4] = {i->a, i->b, i->c, i->d};
    for (const char *c = carom_native_form(i->op); *c; ++c) {
        const int k = *c - 'A';
        if (k >= 0 && k < 4) put_argument(w, arg[k], i->op == CAROM_OP_POW && k == 1);
        else w->write(w->user, c, 1);
    }
}

// Arguments from outside become variables, unless they are numbers.
static void fetch(const writer *w, const carom_instruction *i) {
    int slot[6];
    const int n = carom_native_reads(i, slot);
    for (int k = 0; k < n; ++k) {
        // exponents are read from x
        if (w->slot_name || w->local[slot[k]] == w->function || carom_native_number_in(w->tape, slot[k])) continue;
        PUT(w, "    const double s%d = x[%d];\n", slot[k], slot[k]);
        w->local[slot[k]] = w->function;
    }
}

// The numbers of a curve are places of x, or stand in the function.
static void put_curve(const writer *w, const carom_instruction *i) {
    const double *d = carom_native_number_in(w->tape, i->b);
    if (w->slot_name) {
        PUT(w, "    static const double c%d[] = {", i->dst);
        for (int k = 0, n = carom_curve_numbers(d); k < n; ++k) {
            if (k) put(w, ", ");
            put_number(w, d[k]);
        }
        put(w, "};\n");
    }
    PUT(w, "    const double s%d = curve(", i->dst);
    if (w->slot_name) PUT(w, "c%d, %d, ", i->dst, i->c);
    else PUT(w, "x + %d, %d, ", i->b, i->c);
    put_argument(w, i->a, false);
    put(w, ", ");
    put_argument(w, i->a, false);
    put(w, ");\n");
}

static void put_instruction(const writer *w, const carom_instruction *i) {
    int slot[6], out[2];
    fetch(w, i);
    if (i->op == CAROM_TAPE_SINCOS || i->op == CAROM_OP_PAIR) {
        const bool sines = i->op == CAROM_TAPE_SINCOS;
        carom_native_writes(i, out);
        for (int k = 0; k < 2; ++k) {
            if (w->slot_name && !w->piece[out[k]]) continue;
            PUT(w, "    const double s%d = %s", out[k], !sines ? "" : k ? "cos(" : "sin(");
            put_argument(w, sines || k == 0 ? i->a : i->b, false);
            put(w, sines ? ");\n" : ";\n");
        }
    } else if (carom_native_of_pairs(i->op)) {
        const int n = carom_native_reads(i, slot);
        PUT(w, "    const double p%d[6] = {", i->dst);
        for (int k = 0; k < n; ++k) {
            if (k) put(w, ", ");
            put_argument(w, slot[k], false);
        }
        PUT(w, "};\n    const double s%d = nearest(%d, %d, p%d);\n", i->dst,
            i->op == CAROM_OP_RING_1 || i->op == CAROM_OP_RING_2, i->op == CAROM_OP_LINE_2 || i->op == CAROM_OP_RING_2,
            i->dst);
    } else if (i->op == CAROM_OP_CURVE) {
        put_curve(w, i);
    } else {
        PUT(w, "    const double s%d = ", i->dst);
        put_value(w, i);
        put(w, ";\n");
    }
    for (int k = 0, n = carom_native_writes(i, out); k < n; ++k) {
        w->local[out[k]] = w->function;
        if (w->kept[out[k]] && !w->alone) PUT(w, "    x[%d] = s%d;\n", out[k], out[k]);
    }
}

// -- pieces --------------------------------------------------------------------------------------------

// Which piece computes each slot, and which slots others read.
static void survey(writer *w) {
    const carom_tape *tape = w->tape;
    for (int x = 0; x < tape->nslots; ++x) w->piece[x] = -1;
    for (int pass = 0, piece = 0; pass < 2; ++pass, piece = 0) {
        for (int s = 0; s < tape->nsegments; ++s) {
            const carom_segment *g = &tape->segment[s];
            for (int k = 0; k < g->count; ++k) {
                const carom_instruction *i = tape->code + g->first + k;
                int slot[6];
                if (k % LONGEST == 0) ++piece;
                if (pass == 0)
                    for (int e = 0, n = carom_native_writes(i, slot); e < n; ++e) w->piece[slot[e]] = piece;
                else
                    for (int e = 0, n = carom_native_reads(i, slot); e < n; ++e)
                        w->kept[slot[e]] |= w->piece[slot[e]] != piece;
            }
        }
    }
    const int groups = tape->ngroups,
              outputs = groups ? tape->group[groups - 1].first + tape->group[groups - 1].count : 0;
    for (int k = 0; k < outputs; ++k) w->kept[tape->output[k]] = 1;
}

static void begin(writer *w, const char *kind, int number, int part) {
    ++w->function;
    PUT(w, "static void %.60s_%s%d_%d(double *restrict x, carom_native_nearest *nearest) {\n    (void)nearest;\n",
        w->name, kind, number, part);
}

// Code [first, first + count) as functions of at most LONGEST instructions, and one that calls them.
static void put_code(writer *w, const char *kind, int number, int first, int count) {
    const int parts = count > LONGEST ? (count + LONGEST - 1) / LONGEST : 1;
    for (int k = 0; k < count; ++k) {
        if (k % LONGEST == 0) begin(w, kind, number, k / LONGEST);
        put_instruction(w, w->tape->code + first + k);
        if ((k + 1) % LONGEST == 0 || k + 1 == count) put(w, "}\n\n");
    }
    PUT(w, "static void %.60s_%s%d(double *restrict x, carom_native_nearest *nearest) {\n", w->name, kind, number);
    for (int k = 0; k < parts; ++k) PUT(w, "    %.60s_%s%d_%d(x, nearest);\n", w->name, kind, number, k);
    put(w, "}\n\n");
}

static bool compiled(const carom_segment *g) { return g->class > CAROM_CLASS_PARAMETER; }

static carom_plan plan_of(const carom_tape *tape, int k) {
    return k % 2 ? tape->group[k / 2].rest : tape->group[k / 2].all;
}

// Is a group written as a function that fills its lists?  Inputs and outputs are statements, too.
static bool filled(const carom_tape *tape, const carom_outputs *o) {
    return tape->nwords == 1 && tape->nq + tape->nv + o->count <= 2 * LONGEST && o->reads >= CAROM_CLASS_POSITION &&
           o->all.length <= LONGEST;
}

static bool more_than_three(const carom_outputs *o) { return o->list[3] + o->list[4] > 0; }

static bool listed(const carom_tape *tape, int group) {
    const carom_outputs *o = &tape->group[group];
    return filled(tape, o) && o->list[0] + o->list[1] + o->list[2] > 0 && !more_than_three(o);
}

static bool once(const carom_tape *tape, int group) {
    return filled(tape, &tape->group[group]) && more_than_three(&tape->group[group]);
}

// A plan longer than a piece has no code of its own: its segments run one after the other.
static bool planned(const carom_tape *tape, int k) {
    return plan_of(tape, k).first >= 0 && plan_of(tape, k).length <= LONGEST &&
           (k % 2 || (!listed(tape, k / 2) && !more_than_three(&tape->group[k / 2])));
}

// -- lists ---------------------------------------------------------------------------------------------

// The point goes from the arguments into variables and slots.
static void put_point(const writer *w, const char *from, int n, int slot) {
    for (int i = 0; i < n; ++i, ++slot) {
        if (w->alone) PUT(w, "    const double s%d = %s[%d];\n", slot, from, i);
        else PUT(w, "    const double s%d = x[%d] = %s[%d];\n", slot, slot, from, i);
        w->local[slot] = w->function;
    }
}

// The sum of all outputs: where that is finite they are.  Four partial sums: one chain of additions would take longer
// than the values.
static void put_sum(const writer *w, const carom_outputs *o) {
    const int *slot = w->tape->output + o->first;
    int n = 0;
    for (int k = 0; k < o->count; ++k) {
        bool known = carom_native_number_in(w->tape, slot[k]) && isfinite(*carom_native_number_in(w->tape, slot[k]));
        for (int e = 0; e < k && !known; ++e) known = slot[e] == slot[k];
        if (known) continue;
        PUT(w, n < 4 ? "    double sum%d = " : "    sum%d += ", n % 4);
        put_argument(w, slot[k], false);
        put(w, ";\n");
        ++n;
    }
    for (; n < 4; ++n) PUT(w, "    const double sum%d = 0;\n", n);
    put(w, "    const double sum = (sum0 + sum1) + (sum2 + sum3);\n");
}

// Every output once more, to where it is wanted.
static void put_lists(const writer *w, const carom_outputs *o) {
    const int *slot = w->tape->output + o->first;
    put_sum(w, o);
    for (int k = 0, list = 0, i = 0; k < o->count; ++k, ++i) {
        while (i == o->list[list]) ++list, i = 0;
        PUT(w, "    to%d[%d] = ", list, i);
        put_argument(w, slot[k], false);
        put(w, ";\n");
    }
    put(w, "    return !(sum - sum == 0);\n}\n\n");
}

static void put_body(const writer *w, int group) {
    const carom_tape *tape = w->tape;
    put_point(w, "(&t)", 1, 0);
    put_point(w, "q", tape->nq, 1);
    if (tape->group[group].reads >= CAROM_CLASS_VELOCITY) put_point(w, "v", tape->nv, 1 + tape->nq);
    for (int s = 0; s < tape->nsegments; ++s)
        for (int k = 0; k < tape->segment[s].count && tape->needs[group] >> s & 1; ++k)
            put_instruction(w, tape->code + tape->segment[s].first + k);
}

static void put_group(writer *w, int group, char kind) {
    ++w->function;
    w->alone = kind == 'o';
    PUT(w,
        "static int %.60s_%c%d(double *restrict x, carom_native_nearest *nearest, double t, const double *restrict q, "
        "const double *restrict v, double *const *to) {\n",
        w->name, kind, group);
    for (int k = 0; k < CAROM_LISTS; ++k)
        if (w->tape->group[group].list[k] > 0) PUT(w, "    double *restrict const to%d = to[%d];\n", k, k);
    put(w, "    (void)nearest, (void)v;\n");
    put_body(w, group);
    put_lists(w, &w->tape->group[group]);
    w->alone = false;
}

// -- M^-1 f ----------------------------------------------------------------------------------------------

enum { MOST_UNKNOWNS = 7 }; // more of them have another order of operations (linalg/factor.c)

static bool solved(const carom_tape *tape, int group) {
    const int *list = tape->group[group].list;
    return listed(tape, group) && tape->nv >= 1 && tape->nv <= MOST_UNKNOWNS && list[0] == tape->nv &&
           list[1] == tape->nv * tape->nv && list[2] > 0;
}

static const double TINY = 1e-14; // see linalg/factor.c

// LDL' and solution, in the order of operations of linalg: m_i_j becomes L and 1/D, f_i the answer.
static void put_solution(const writer *w, int n) {
    for (int j = 0; j < n; ++j) {
        PUT(w, "    const double d%d = m_%d_%d;\n    bad |= !(d%d > %g * a_%d);\n    const double r%d = 1 / d%d;\n",
            j, j, j, j, TINY, j, j, j);
        for (int k = j + 1; k < n; ++k) {
            PUT(w, "    const double l_%d_%d = m_%d_%d * r%d;\n", k, j, k, j, j);
            for (int i = k; i < n; ++i)
                // as linalg/factor.c has it
                if (n == 3 && i > k) PUT(w, "    m_%d_%d -= m_%d_%d * r%d * m_%d_%d;\n", i, k, i, j, j, k, j);
                else PUT(w, "    m_%d_%d -= l_%d_%d * m_%d_%d;\n", i, k, k, j, i, j);
        }
    }
    for (int j = 0; j < n && n != 3; ++j)
        for (int i = j + 1; i < n; ++i) PUT(w, "    f_%d -= l_%d_%d * f_%d;\n", i, i, j, j);
    if (n == 3) put(w, "    f_1 -= l_1_0 * f_0;\n    f_2 -= l_2_0 * f_0 + l_2_1 * f_1;\n");
    for (int j = n - 1; j >= 0; --j) {
        PUT(w, "    f_%d = f_%d * r%d", j, j, j);
        for (int i = j + 1; i < n; ++i) PUT(w, " - l_%d_%d * f_%d", i, j, i);
        PUT(w, ";\n    to[%d] = f_%d;\n", j, j);
    }
}

static void put_free(writer *w, int group) {
    const carom_outputs *o = &w->tape->group[group];
    const int n = w->tape->nv, *slot = w->tape->output + o->first;
    ++w->function;
    w->alone = true;
    PUT(w,
        "static int %.60s_f%d(const double *restrict x, carom_native_nearest *nearest, double t, const double "
        "*restrict q, const double *restrict v, double *restrict to, double *restrict g) {\n",
        w->name, group);
    put(w, "    int bad = 0;\n    (void)nearest, (void)v;\n");
    put_body(w, group);
    w->alone = false;
    put_sum(w, o);
    for (int i = 0; i < n; ++i) {
        PUT(w, "    double f_%d = ", i);
        put_argument(w, slot[i], false);
        put(w, ";\n");
        for (int j = 0; j <= i; ++j) {
            PUT(w, "    double m_%d_%d = ", i, j);
            put_argument(w, slot[n + i + j * n], false);
            put(w, ";\n");
        }
        PUT(w, "    const double a_%d = m_%d_%d;\n", i, i, i);
    }
    put_solution(w, n);
    for (int k = 0; k < o->list[2]; ++k) {
        PUT(w, "    g[%d] = ", k);
        put_argument(w, slot[n + n * n + k], false);
        put(w, ";\n");
    }
    put(w, "    return bad | !(sum - sum == 0);\n}\n\n");
}

static void put_table(const writer *w) {
    const carom_tape *tape = w->tape;
    PUT(w, "static carom_native_piece *const %.60s_segments[] = {", w->name);
    for (int s = 0; s < tape->nsegments; ++s)
        if (compiled(&tape->segment[s])) PUT(w, "%.60s_s%d, ", w->name, s);
        else put(w, "0, ");
    PUT(w, "0};\nstatic carom_native_piece *const %.60s_plans[] = {", w->name);
    for (int k = 0; k < 2 * tape->ngroups; ++k)
        if (planned(tape, k)) PUT(w, "%.60s_p%d, ", w->name, k);
        else put(w, "0, ");
    PUT(w, "0};\nstatic carom_native_lists *const %.60s_lists[] = {", w->name);
    for (int k = 0; k < tape->ngroups; ++k)
        if (listed(tape, k)) PUT(w, "%.60s_l%d, ", w->name, k);
        else put(w, "0, ");
    PUT(w, "0};\nstatic carom_native_lists *const %.60s_once[] = {", w->name);
    for (int k = 0; k < tape->ngroups; ++k)
        if (once(tape, k)) PUT(w, "%.60s_o%d, ", w->name, k);
        else put(w, "0, ");
    PUT(w, "0};\nstatic carom_native_free *const %.60s_free[] = {", w->name);
    for (int k = 0; k < tape->ngroups; ++k)
        if (solved(tape, k)) PUT(w, "%.60s_f%d, ", w->name, k);
        else put(w, "0, ");
    PUT(w, "0};\nstatic const carom_native %.60s = {%d, %d, %d, %d, 0x%llxull, ", w->name, CAROM_NATIVE_VERSION,
        tape->nsegments, tape->ngroups, tape->nslots, carom_tape_fingerprint(tape));
    PUT(w, "%.60s_segments, %.60s_plans, %.60s_lists, %.60s_once, %.60s_free};\n\n", w->name, w->name, w->name, w->name,
        w->name);
}

void carom_native_write_head(carom_write_text *write, void *user) {
    // What gcc does from -O2 on only, and straight-line code needs: statements that wait for each other are spread,
    // neighbouring loads and stores become one instruction.  Not where registers are few.  These are no flags of the
    // command, for other compilers refuse some of them.
    static const char text[] = "#if defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)\n"
                               "#pragma GCC optimize(\"schedule-insns\", \"schedule-insns2\", \"peephole2\")\n"
                               "#endif\n"
                               "#include <math.h>\n"
                               "#include <stdbool.h>\n\n"
                               "typedef double carom_native_nearest(bool ring, int which, const double *p);\n"
                               "typedef void carom_native_piece(double *slot, carom_native_nearest *nearest);\n"
                               "typedef int carom_native_lists(double *slot, carom_native_nearest *nearest, double t, "
                               "const double *q, const double *v, double *const *to);\n"
                               "typedef int carom_native_free(const double *slot, carom_native_nearest *nearest, "
                               "double t, const double *q, const double *v, double *a, double *g);\n"
                               "typedef struct carom_native {\n"
                               "    int version, nsegments, ngroups, nslots;\n"
                               "    unsigned long long fingerprint;\n"
                               "    carom_native_piece *const *segment, *const *plan;\n"
                               "    carom_native_lists *const *lists, *const *once;\n"
                               "    carom_native_free *const *free;\n"
                               "} carom_native;\n\n";
    write(user, text, sizeof text - 1);
    write(user, carom_curve_text, strlen(carom_curve_text));
    write(user, "\n\n", 2);
}

carom_status carom_native_write(const carom_tape *tape, const char *name, carom_write_text *write, void *user) {
    const size_t n = (size_t)tape->nslots + 1;
    writer w = {.tape = tape, .name = name, .write = write, .user = user, .piece = calloc(n, sizeof *w.piece),
                .kept = calloc(n, sizeof *w.kept), .local = calloc(n, sizeof *w.local)};
    if (w.piece && w.kept && w.local) {
        survey(&w);
        for (int s = 0; s < tape->nsegments; ++s)
            if (compiled(&tape->segment[s])) put_code(&w, "s", s, tape->segment[s].first, tape->segment[s].count);
        for (int k = 0; k < 2 * tape->ngroups; ++k)
            if (planned(tape, k)) put_code(&w, "p", k, plan_of(tape, k).first, plan_of(tape, k).length);
        for (int k = 0; k < tape->ngroups; ++k)
            if (listed(tape, k)) put_group(&w, k, 'l');
            else if (once(tape, k)) put_group(&w, k, 'o');
        for (int k = 0; k < tape->ngroups; ++k)
            if (solved(tape, k)) put_free(&w, k);
        put_table(&w);
    }
    const bool good = w.piece && w.kept && w.local;
    free(w.piece);
    free(w.kept);
    free(w.local);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_tape_write_group(const carom_tape *tape, int group, carom_slot_name *slot_name,
                                    carom_write_text *write, void *user) {
    const size_t n = (size_t)tape->nslots + 1;
    writer w = {.tape = tape,
                .write = write,
                .user = user,
                .slot_name = slot_name,
                .function = 1,
                .piece = calloc(n, sizeof *w.piece),
                .kept = calloc(n, sizeof *w.kept),
                .local = calloc(n, sizeof *w.local)};
    const bool good = w.piece && w.kept && w.local;
    const carom_outputs *o = &tape->group[group];
    for (int pass = 0; good && pass < 2; ++pass) { // what is read; then the text
        for (int s = 0; s < tape->nsegments; ++s)
            for (int k = 0; k < tape->segment[s].count && tape->segment[s].groups >> group & 1; ++k) {
                const carom_instruction *i = tape->code + tape->segment[s].first + k;
                int slot[6];
                if (pass) put_instruction(&w, i);
                else for (int e = 0, count = carom_native_reads(i, slot); e < count; ++e) w.piece[slot[e]] = 1;
            }
        for (int e = 0; e < o->count; ++e) w.piece[tape->output[o->first + e]] = 1;
    }
    if (good) {
        for (int k = 0; k < o->count; ++k) {
            PUT(&w, "    out[%d] = ", k);
            put_argument(&w, tape->output[o->first + k], false);
            put(&w, ";\n");
        }
    }
    free(w.piece);
    free(w.kept);
    free(w.local);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}

static unsigned long long mix(unsigned long long h, const void *bytes, size_t count) { // FNV-1a
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; ++i) h = (h ^ b[i]) * 1099511628211ull;
    return h;
}

static unsigned long long mix_plan(unsigned long long h, const carom_tape *tape, carom_plan p) {
    const int size[] = {p.first >= 0, p.length};
    return mix(mix(h, size, sizeof size), tape->code + (p.first < 0 ? 0 : p.first),
               p.first < 0 ? 0 : (size_t)p.length * sizeof *tape->code);
}

// All that the text is made of: objects of other texts have other names, whether or not somebody has thought of
// CAROM_NATIVE_VERSION.
unsigned long long carom_tape_fingerprint(const carom_tape *tape) {
    const int size[] = {tape->nq,     tape->nv,        tape->nparameters, tape->nnumbers,
                        tape->nslots, tape->nsegments, tape->ngroups,     tape->nwords};
    unsigned long long h = mix(14695981039346656037ull, size, sizeof size);
    for (int s = 0; s < tape->nsegments; ++s) {
        const carom_segment *g = &tape->segment[s];
        h = mix(h, tape->code + g->first, (size_t)g->count * sizeof *tape->code);
        h = mix(h, &g->count, sizeof g->count);
        h = mix(h, &g->class, sizeof g->class);
    }
    h = mix(h, tape->needs, ((size_t)tape->ngroups + 1) * (size_t)tape->nwords * sizeof *tape->needs);
    for (int k = 0; k < tape->ngroups; ++k) {
        const carom_outputs *o = &tape->group[k];
        h = mix(mix(h, o->list, sizeof o->list), &o->reads, sizeof o->reads);
        h = mix_plan(mix_plan(h, tape, o->all), tape, o->rest);
        h = mix(mix(h, &o->count, sizeof o->count), tape->output + o->first, (size_t)o->count * sizeof *tape->output);
    }
    return mix(h, tape->number, (size_t)tape->nnumbers * sizeof *tape->number);
}

bool carom_tape_attach(carom_tape *tape, const carom_native *native) {
    if (native && (native->version != CAROM_NATIVE_VERSION || native->nsegments != tape->nsegments ||
                   native->ngroups != tape->ngroups || native->nslots != tape->nslots ||
                   native->fingerprint != carom_tape_fingerprint(tape)))
        return false;
    tape->native = native;
    return true;
}

const carom_native *carom_tape_native(const carom_tape *tape) { return tape->native; }
