// tape.c: the compiler from graph to tape.
//
// One pass down the graph finds which groups need which node, a second chooses instructions (a product and the sum
// around it become one, a sine and its cosine become one), a sort brings them into segments.  See tape.h.
#include "expr/tape.h"
#include "base/grow.h"
#include "expr/curve.h"
#include "expr/graph.h"
#include <stdlib.h>
#include <string.h>

typedef struct draft {
    carom_instruction code; // arguments are nodes until slots are given
    uint32_t groups;
    int class;
    carom_node node, twin; // results; twin is a cosine or CAROM_NONE
} draft;

typedef struct compiler {
    const carom_graph *g;
    int nodes;        // that can be needed
    int *needed, nneeded; // those that are, from the last to the first
    uint32_t *groups; // per node: who needs it
    int *uses;        // per node: by needed nodes and outputs
    int *curve;       // per curve of the graph: slot of its first number, OPEN: nobody needs it
    int *slot;        // per node: where its value lives; DONE while it is part of another instruction
    draft *code;
    int ncode;
} compiler;

enum { OPEN = -1, DONE = -2, GROUP_LIMIT = 32, SHORT = 32 }; // SHORT: instructions in a segment

// -- choosing instructions ---------------------------------------------------------------------------

static bool is_op(const compiler *k, carom_node x, carom_op op) { return k->g->node[x].op == op; }

// May x become part of an instruction of class c?  Then nobody else may want it, and it must not be cheaper: what
// depends on less is computed less often.
static bool part(const compiler *k, carom_node x, carom_op op, int c) {
    return is_op(k, x, op) && k->uses[x] == 1 && carom_vertex_class(&k->g->node[x]) == c;
}

// The same for a sum, unless it has better use for a product of its own.
static bool part_sum(const compiler *k, carom_node x, carom_op op, int c) {
    const carom_vertex *v = &k->g->node[x];
    return part(k, x, op, c) && !part(k, v->a, CAROM_OP_MUL, c) && !part(k, v->b, CAROM_OP_MUL, c);
}

static void take(compiler *k, carom_instruction *i, int op, carom_node x, int c) {
    const carom_vertex *v = &k->g->node[x];
    k->slot[x] = DONE;
    *i = (carom_instruction){.op = op, .a = v->a, .b = v->b, .c = c, .d = CAROM_NONE};
}

// a + b or a - b with a product, two products or a sum inside.
static bool fuse_sum(compiler *k, carom_instruction *i, carom_op op, carom_node a, carom_node b, int class) {
    const bool add = op == CAROM_OP_ADD, ma = part(k, a, CAROM_OP_MUL, class), mb = part(k, b, CAROM_OP_MUL, class);
    if (ma && mb) {
        take(k, i, add ? CAROM_TAPE_DOT_ADD : CAROM_TAPE_DOT_SUB, a, k->g->node[b].a);
        i->d = k->g->node[b].b;
        k->slot[b] = DONE;
    } else if (ma) {
        take(k, i, add ? CAROM_TAPE_MUL_ADD : CAROM_TAPE_MUL_SUB, a, b);
    } else if (mb) {
        take(k, i, add ? CAROM_TAPE_MUL_ADD : CAROM_TAPE_SUB_MUL, b, a);
    } else if (part_sum(k, a, CAROM_OP_ADD, class)) {
        take(k, i, add ? CAROM_TAPE_ADD_ADD : CAROM_TAPE_ADD_SUB, a, b);
    } else if (part_sum(k, a, CAROM_OP_SUB, class)) {
        take(k, i, add ? CAROM_TAPE_DIF_ADD : CAROM_TAPE_DIF_SUB, a, b);
    } else if (part_sum(k, b, CAROM_OP_ADD, class)) {
        take(k, i, add ? CAROM_TAPE_ADD_ADD : CAROM_TAPE_SUB_ADD, b, a);
    } else if (part_sum(k, b, CAROM_OP_SUB, class)) {
        take(k, i, add ? CAROM_TAPE_DIF_ADD : CAROM_TAPE_SUB_DIF, b, a);
    } else {
        return false;
    }
    return true;
}

static bool fuse_product(compiler *k, carom_instruction *i, carom_node a, carom_node b, int class) {
    for (int side = 0; side < 2; ++side) {
        const carom_node x = side ? b : a, y = side ? a : b;
        int op = CAROM_NONE;
        if (part(k, x, CAROM_OP_MUL, class)) op = CAROM_TAPE_MUL_MUL;
        else if (part_sum(k, x, CAROM_OP_ADD, class)) op = CAROM_TAPE_ADD_MUL;
        else if (part_sum(k, x, CAROM_OP_SUB, class)) op = CAROM_TAPE_DIF_MUL;
        if (op == CAROM_NONE) continue;
        take(k, i, op, x, y);
        return true;
    }
    return false;
}

// -x: of a product one instruction, of a difference the other difference.
static bool fuse_negative(compiler *k, carom_instruction *i, carom_node x, int class) {
    if (part(k, x, CAROM_OP_MUL, class)) {
        take(k, i, CAROM_TAPE_NEG_MUL, x, CAROM_NONE);
        return true;
    }
    if (!part(k, x, CAROM_OP_SUB, class)) return false;
    const carom_node a = k->g->node[x].b, b = k->g->node[x].a;
    k->slot[x] = DONE;
    *i = (carom_instruction){.op = CAROM_OP_SUB, .a = a, .b = b, .c = CAROM_NONE, .d = CAROM_NONE};
    fuse_sum(k, i, CAROM_OP_SUB, a, b, class);
    return true;
}

// Sine and cosine of one argument: one instruction for both.
static bool fuse_sincos(compiler *k, draft *d, carom_node x) {
    const bool sine = is_op(k, x, CAROM_OP_SIN);
    if (!sine && !is_op(k, x, CAROM_OP_COS)) return false;
    const carom_node a = k->g->node[x].a;
    const carom_node y = carom_graph_find(k->g, sine ? CAROM_OP_COS : CAROM_OP_SIN, a, CAROM_NONE);
    if (y == CAROM_NONE || y >= k->nodes || !k->groups[y]) return false;
    d->code.op = CAROM_TAPE_SINCOS;
    d->node = sine ? x : y;
    d->twin = sine ? y : x;
    d->groups |= k->groups[y];
    k->slot[y] = DONE;
    return true;
}

static void choose(compiler *k, carom_node x) {
    const carom_vertex *v = &k->g->node[x];
    const int class = carom_vertex_class(v);
    draft *d = &k->code[k->ncode++];
    *d = (draft){.groups = k->groups[x], .class = class, .node = x, .twin = CAROM_NONE};
    d->code = (carom_instruction){.op = v->op, .a = v->a, .b = v->b, .c = v->c, .d = CAROM_NONE};
    switch (v->op) {
    case CAROM_OP_ADD: case CAROM_OP_SUB: fuse_sum(k, &d->code, (carom_op)v->op, v->a, v->b, class); break;
    case CAROM_OP_MUL: fuse_product(k, &d->code, v->a, v->b, class); break;
    case CAROM_OP_NEG: fuse_negative(k, &d->code, v->a, class); break;
    case CAROM_OP_SIN: case CAROM_OP_COS: fuse_sincos(k, d, x); break;
    default: break;
    }
}

// -- order -------------------------------------------------------------------------------------------

static int members(uint32_t set) {
    int n = 0;
    for (; set; set &= set - 1) ++n;
    return n;
}

static int earlier(const draft *d) { return d->twin != CAROM_NONE && d->twin < d->node ? d->twin : d->node; }

static int compare(const void *x, const void *y) {
    const draft *a = x, *b = y;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    const int na = members(a->groups), nb = members(b->groups);
    if (na != nb) return na > nb ? -1 : 1;
    if (a->groups != b->groups) return a->groups < b->groups ? -1 : 1;
    return earlier(a) < earlier(b) ? -1 : 1;
}

// -- putting it together -----------------------------------------------------------------------------

static carom_status check(const carom_graph *g, const carom_group *groups, int ngroups, carom_error *err) {
    if (ngroups < 0 || ngroups > GROUP_LIMIT)
        return carom_fail(err, CAROM_BAD_INPUT, "a tape has at most %d groups of outputs, not %d", GROUP_LIMIT,
                          ngroups);
    if (carom_graph_failed(g))
        return carom_fail(err, CAROM_NO_MEMORY,
                          "the expressions are too large: not enough memory, or more than 4 million nodes");
    for (int i = 0; i < ngroups; ++i) {
        if (groups[i].after < 0 || groups[i].after > ngroups)
            return carom_fail(err, CAROM_BAD_INPUT, "group %d comes after group %d, but there are only %d", i,
                              groups[i].after - 1, ngroups);
        for (int j = 0; j < groups[i].count; ++j)
            if (groups[i].nodes[j] < 0 || groups[i].nodes[j] >= g->count)
                return carom_fail(err, CAROM_BAD_INPUT, "output %d of group %d is not an expression", j, i);
    }
    return CAROM_OK;
}

static bool need(compiler *k, carom_node x) {
    if (x == CAROM_NONE || k->slot[x] == OPEN) return true;
    if (!CAROM_GROW(k->needed, k->nneeded)) return false;
    k->slot[x] = OPEN;
    k->needed[k->nneeded++] = x;
    return true;
}

static int later_first(const void *x, const void *y) {
    const int a = *(const int *)x, b = *(const int *)y;
    return a > b ? -1 : a < b;
}

// Where a graph has many tapes, each of them must not look at all its nodes.
static bool find_needed(compiler *k, const carom_group *groups, int ngroups) {
    bool good = true;
    for (int i = 0; i < ngroups; ++i)
        for (int j = 0; j < groups[i].count; ++j) good = good && need(k, groups[i].nodes[j]);
    for (int i = 0; i < k->nneeded && good; ++i) {
        const carom_vertex *v = &k->g->node[k->needed[i]];
        if (carom_vertex_leaf(v)) continue;
        good = need(k, v->a) && (v->op == CAROM_OP_SYMBOL || (need(k, v->b) && need(k, v->c)));
    }
    if (k->nneeded > 0) qsort(k->needed, (size_t)k->nneeded, sizeof *k->needed, later_first);
    return good;
}

// Who needs which node, and how often.
static carom_status spread(compiler *k, const carom_group *groups, int ngroups, const int *size, carom_error *err) {
    static const char *const kind[] = {"time", "parameter", "position", "velocity"};
    for (int i = 0; i < ngroups; ++i) {
        for (int j = 0; j < groups[i].count; ++j) {
            k->groups[groups[i].nodes[j]] |= (uint32_t)1 << i;
            ++k->uses[groups[i].nodes[j]];
        }
    }
    for (int n = 0; n < k->nneeded; ++n) {
        const carom_node x = k->needed[n];
        const carom_vertex *v = &k->g->node[x];
        if (v->op == CAROM_OP_INPUT && v->b >= size[v->a])
            return carom_fail(err, CAROM_BAD_INPUT, "an expression uses %s %d, but there are only %d", kind[v->a], v->b,
                              size[v->a]);
        if (carom_vertex_leaf(v)) continue;
        if (v->op == CAROM_OP_SYMBOL) { // whoever wants it wants its meaning
            k->groups[v->a] |= k->groups[x];
            k->uses[v->a] += k->uses[x];
            continue;
        }
        ++k->ncode;
        const int arg[3] = {v->a, v->b, v->c};
        for (int i = 0; i < 3; ++i) {
            if (arg[i] == CAROM_NONE) continue;
            k->groups[arg[i]] |= k->groups[x];
            ++k->uses[arg[i]];
        }
    }
    return CAROM_OK;
}

// The curve of a node that is needed, or NULL.
static const double *curve_at(const compiler *k, carom_node x, int *which, int *order) {
    return is_op(k, x, CAROM_OP_CURVE) ? carom_curve_of(k->g, k->g->node[x].b, which, order) : NULL;
}

// Numbers of curves stand behind the others, each curve once.
static void place_curves(compiler *k, carom_tape *tape) {
    for (int i = k->nneeded - 1, which, order; i >= 0; --i) {
        const double *d = curve_at(k, k->needed[i], &which, &order);
        if (!d || k->curve[which] != OPEN) continue;
        const int n = carom_curve_numbers(d);
        k->curve[which] = tape->nslots;
        memcpy(tape->number + tape->nnumbers, d, (size_t)n * sizeof *d);
        tape->nnumbers += n;
        tape->nslots += n;
    }
}

static int count_curves(compiler *k) {
    int n = 0;
    for (int i = 0; i < k->g->curves; ++i) k->curve[i] = OPEN;
    for (int i = k->nneeded - 1, which, order; i >= 0; --i) {
        const double *d = curve_at(k, k->needed[i], &which, &order);
        if (!d || k->curve[which] != OPEN) continue;
        k->curve[which] = DONE;
        n += carom_curve_numbers(d);
    }
    for (int i = 0; i < k->g->curves; ++i) k->curve[i] = OPEN;
    return n;
}

// Slots of the leaves, numbers in the order of the graph.
static void place_leaves(compiler *k, carom_tape *tape) {
    const int start[4] = {0, 1 + tape->nq + tape->nv, 1, 1 + tape->nq}; // by carom_input
    tape->nslots = 1 + tape->nq + tape->nv + tape->nparameters;
    for (int i = k->nneeded - 1; i >= 0; --i) {
        const carom_node x = k->needed[i];
        const carom_vertex *v = &k->g->node[x];
        if (v->op == CAROM_OP_INPUT) k->slot[x] = start[v->a] + v->b;
        tape->timed = tape->timed || (v->op == CAROM_OP_INPUT && v->a == CAROM_TIME);
        if (v->op != CAROM_OP_NUMBER) continue;
        tape->number[tape->nnumbers++] = v->value;
        k->slot[x] = tape->nslots++;
    }
    place_curves(k, tape);
}

static int place(const compiler *k, int node) {
    return node == CAROM_NONE ? 0 : k->slot[carom_graph_meaning(k->g, node)];
}

static bool starts_segment(const compiler *k, int i) {
    const draft *d = &k->code[i];
    return i == 0 || d->groups != d[-1].groups || d->class != d[-1].class;
}

// Instructions in their final order, with slots, cut into segments.  Returns how many there are, with the ends.
static int emit(compiler *k, carom_tape *tape) {
    int n = 0;
    for (int i = 0; i < k->ncode; ++i) {
        const draft *d = &k->code[i];
        carom_instruction c = d->code;
        c.dst = k->slot[d->node] = tape->nslots++;
        tape->nslots += c.op == CAROM_OP_PAIR; // the second of the pair is behind the first
        int which, order;
        const bool curve = curve_at(k, d->node, &which, &order) != NULL;
        c.a = place(k, c.a), c.b = place(k, c.b), c.c = place(k, c.c), c.d = place(k, c.d);
        if (curve) c.b = k->curve[which], c.c = order;
        if (d->twin != CAROM_NONE) c.b = k->slot[d->twin] = tape->nslots++;
        if (starts_segment(k, i)) {
            if (i > 0) tape->code[n++].op = CAROM_TAPE_END;
            tape->segment[tape->nsegments++] = (carom_segment){.first = n, .groups = d->groups, .class = d->class};
        }
        tape->code[n++] = c;
        ++tape->segment[tape->nsegments - 1].count;
    }
    if (n > 0) tape->code[n++].op = CAROM_TAPE_END;
    return n;
}

static void put(uint64_t *sets, int which, int nwords, int member) {
    sets[(size_t)which * (size_t)nwords + (size_t)member / 64] |= (uint64_t)1 << member % 64;
}

// Is this an operation that run_held() makes from what was?
static bool has_pieces(int op) {
    switch (op) {
    case CAROM_OP_ABS:
    case CAROM_OP_MIN:
    case CAROM_OP_MAX:
    case CAROM_OP_CURVE:
    case CAROM_OP_SIGN:
    case CAROM_OP_FLOOR:
    case CAROM_OP_LT:
    case CAROM_OP_LE:
    case CAROM_OP_GT:
    case CAROM_OP_GE:
    case CAROM_OP_EQ:
    case CAROM_OP_NE: return true;
    default: return false;
    }
}

// Which segments a group needs, and which have pieces.  Those of parameters alone run once, at the start: a list of
// their own.
static void list_segments(carom_tape *tape) {
    for (int s = 0; s < tape->nsegments; ++s) {
        const carom_segment *g = &tape->segment[s];
        for (int c = CAROM_CLASS_POSITION; c <= g->class; ++c) put(tape->fades, c, tape->nwords, s);
        if (g->class <= CAROM_CLASS_PARAMETER) put(tape->needs, tape->ngroups, tape->nwords, s);
        else
            for (int i = 0; i < tape->ngroups; ++i)
                if (g->groups >> i & 1) put(tape->needs, i, tape->nwords, s);
        int n = tape->piece_at[s];
        for (int i = g->first; i < g->first + g->count; ++i)
            if (has_pieces(tape->code[i].op)) tape->piece[n++] = i;
        if (n > tape->piece_at[s]) put(tape->pieces, 0, tape->nwords, s), tape->piecewise = true;
        tape->piece_at[s + 1] = n;
    }
}

static void list_outputs(const compiler *k, carom_tape *tape, const carom_group *groups) {
    int n = 0;
    for (int i = 0; i < tape->ngroups; ++i) {
        carom_outputs *o = &tape->group[i];
        *o = (carom_outputs){.first = n, .count = groups[i].count};
        memcpy(o->list, groups[i].list, sizeof o->list);
        for (int j = 0; j < groups[i].count; ++j) {
            const carom_node x = groups[i].nodes[j];
            const int class = carom_vertex_class(&k->g->node[x]);
            tape->output[n++] = place(k, x);
            if (class > o->reads) o->reads = class;
        }
    }
}

static void *zeros(int count, size_t size) {
    return calloc((size_t)count + 1, size); // never of size 0
}

static bool allocate_tape(compiler *k, carom_tape *tape, const carom_group *groups) {
    int outputs = 0, numbers = 0;
    for (int i = 0; i < tape->ngroups; ++i) outputs += groups[i].count;
    for (int n = 0; n < k->nneeded; ++n) numbers += is_op(k, k->needed[n], CAROM_OP_NUMBER);
    numbers += count_curves(k);
    int segments = 0;
    for (int i = 0; i < k->ncode; ++i) segments += starts_segment(k, i);
    tape->code = zeros(k->ncode + segments, sizeof *tape->code);
    tape->segment = zeros(segments, sizeof *tape->segment);
    tape->number = zeros(numbers, sizeof *tape->number);
    tape->nwords = segments > 64 ? (segments + 63) / 64 : 1;
    tape->needs = zeros((tape->ngroups + 1) * tape->nwords, sizeof *tape->needs);
    tape->fades = zeros(CAROM_CLASS_COUNT * tape->nwords, sizeof *tape->fades);
    tape->pieces = zeros(tape->nwords, sizeof *tape->pieces);
    tape->piece = zeros(k->ncode, sizeof *tape->piece);
    tape->piece_at = zeros(segments, sizeof *tape->piece_at);
    tape->output = zeros(outputs, sizeof *tape->output);
    tape->group = zeros(tape->ngroups, sizeof *tape->group);
    return tape->code && tape->segment && tape->number && tape->needs && tape->fades && tape->pieces && tape->piece &&
           tape->piece_at && tape->output && tape->group;
}

static bool needed(const carom_tape *tape, int group, int segment) {
    return tape->needs[(size_t)group * (size_t)tape->nwords + (size_t)segment / 64] >> segment % 64 & 1;
}

// The segments that a group needs and the group `without` (-1: none) does not, as a plan at the end of the code, unless
// they are few or long.
static carom_plan plan(const carom_tape *tape, int group, int without, int *room) {
    carom_plan p = {.first = -1};
    int pieces = 0;
    for (int s = 0; s < tape->nsegments; ++s) {
        if (!needed(tape, group, s) || (without >= 0 && needed(tape, without, s))) continue;
        ++pieces;
        p.length += tape->segment[s].count;
        if (s < 64) p.set |= (uint64_t)1 << s;
    }
    if (pieces < 2 || p.length >= SHORT * pieces) return p;
    p.first = *room;
    *room += p.length + 1;
    return p;
}

static void copy_plan(carom_tape *tape, carom_plan p, int group, int without) {
    if (p.first < 0) return;
    carom_instruction *to = tape->code + p.first;
    for (int s = 0; s < tape->nsegments; ++s) {
        if (!needed(tape, group, s) || (without >= 0 && needed(tape, without, s))) continue;
        memcpy(to, tape->code + tape->segment[s].first, (size_t)tape->segment[s].count * sizeof *to);
        to += tape->segment[s].count;
    }
    *to = (carom_instruction){.op = CAROM_TAPE_END};
}

static bool make_plans(carom_tape *tape, const carom_group *groups, int used) {
    int room = used;
    for (int i = 0; i < tape->ngroups; ++i) {
        carom_outputs *o = &tape->group[i];
        o->all = plan(tape, i, -1, &room);
        o->rest = groups[i].after && tape->nwords == 1 ? plan(tape, i, groups[i].after - 1, &room)
                                                       : (carom_plan){.first = -1};
    }
    carom_instruction *code = realloc(tape->code, ((size_t)room + 1) * sizeof *code);
    if (!code) return false;
    tape->code = code;
    for (int i = 0; i < tape->ngroups; ++i) {
        copy_plan(tape, tape->group[i].all, i, -1);
        copy_plan(tape, tape->group[i].rest, i, groups[i].after - 1);
    }
    return true;
}

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to compile the expressions");
}

static carom_status compile(compiler *k, carom_tape *tape, const carom_group *groups, carom_error *err) {
    const int size[4] = {1, tape->nparameters, tape->nq, tape->nv}; // by carom_input
    k->groups = zeros(k->nodes, sizeof *k->groups);
    k->uses = zeros(k->nodes, sizeof *k->uses);
    k->slot = zeros(k->nodes, sizeof *k->slot);
    k->curve = zeros(k->g->curves, sizeof *k->curve);
    if (!k->groups || !k->uses || !k->slot || !k->curve) return no_memory(err);
    if (!find_needed(k, groups, tape->ngroups)) return no_memory(err);
    CAROM_TRY(spread(k, groups, tape->ngroups, size, err));
    k->code = zeros(k->ncode, sizeof *k->code);
    if (!k->code) return no_memory(err);
    k->ncode = 0;
    for (int n = 0; n < k->nneeded; ++n) {
        const carom_node x = k->needed[n];
        if (k->slot[x] == OPEN && !carom_vertex_leaf(&k->g->node[x]) && !is_op(k, x, CAROM_OP_SYMBOL)) choose(k, x);
    }
    qsort(k->code, (size_t)k->ncode, sizeof *k->code, compare);
    if (!allocate_tape(k, tape, groups)) return no_memory(err);
    place_leaves(k, tape);
    const int used = emit(k, tape);
    list_segments(tape);
    list_outputs(k, tape, groups);
    return make_plans(tape, groups, used) ? CAROM_OK : no_memory(err);
}

carom_tape *carom_tape_compile(const carom_graph *g, const carom_group *groups, int ngroups,
                               int nq, int nv, int nparameters, carom_error *err) {
    if (check(g, groups, ngroups, err) != CAROM_OK) return NULL;
    compiler k = {.g = g};
    for (int i = 0; i < ngroups; ++i)
        for (int j = 0; j < groups[i].count; ++j)
            if (groups[i].nodes[j] >= k.nodes) k.nodes = groups[i].nodes[j] + 1;
    carom_tape *tape = calloc(1, sizeof *tape);
    if (!tape) {
        no_memory(err);
        return NULL;
    }
    *tape = (carom_tape){.nq = nq, .nv = nv, .nparameters = nparameters, .ngroups = ngroups};
    const carom_status status = compile(&k, tape, groups, err);
    free(k.needed);
    free(k.groups);
    free(k.uses);
    free(k.slot);
    free(k.curve);
    free(k.code);
    if (status == CAROM_OK) return tape;
    carom_tape_destroy(tape);
    return NULL;
}

void carom_tape_destroy(carom_tape *tape) {
    if (!tape) return;
    free(tape->code);
    free(tape->segment);
    free(tape->number);
    free(tape->needs);
    free(tape->fades);
    free(tape->pieces);
    free(tape->piece);
    free(tape->piece_at);
    free(tape->output);
    free(tape->group);
    free(tape);
}

int carom_tape_instructions(const carom_tape *tape, int group) {
    int n = 0;
    for (int s = 0; s < tape->nsegments; ++s) {
        const carom_segment *g = &tape->segment[s];
        if (g->class > CAROM_CLASS_PARAMETER && (group < 0 || g->groups >> group & 1)) n += g->count;
    }
    return n;
}
