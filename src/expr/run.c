// run.c: the interpreter of the tape and the bookkeeping of what is still valid.
//
// Cost per evaluation of a group: a comparison of (t, q, v) with the last point, the segments that are not
// valid there, and a copy of the outputs.
#include "expr/curve.h"
#include "expr/graph.h"
#include "expr/ring.h"
#include "expr/tape.h"
#include "expr/value.h"
#include <string.h>

#define RING_OPERATIONS(X) X(LINE_1) X(LINE_2) X(RING_1) X(RING_2)

// Where labels are values, every instruction jumps to the next itself and the branch predictor sees one jump per
// kind of instruction instead of one for all: a fifth faster than the switch, which is what other compilers get.
#if defined(__GNUC__)
#define DISPATCH goto *label[i->op]
#define CASE(name) at_##name
#else
#define DISPATCH goto again
#define CASE(name) case CAROM_##name
#endif

static uint64_t *valid_sets(void *work) { return (uint64_t *)((carom_tape_state *)work + 1); }

static double *slots(const carom_tape *tape, void *work) { return carom_tape_slots(tape, work); }

static int lowest(uint64_t set) {
#if defined(__GNUC__)
    return __builtin_ctzll(set);
#else
    int i = 0;
    for (; !(set & 1); set >>= 1) ++i;
    return i;
#endif
}

static double nearest(carom_op op, const double *a, const double *b, const double *c) {
    const double p[6] = {a[0], a[1], b[0], b[1], c[0], c[1]};
    return carom_ring_nearest(op == CAROM_OP_RING_1 || op == CAROM_OP_RING_2,
                              op == CAROM_OP_LINE_2 || op == CAROM_OP_RING_2, p);
}

// Run the instructions from i on to the end of their segment (i NULL: none), then the segments of a set, in order;
// segment 0 of the set is *first.  Returns the number of instructions in the set.
static uint64_t run(const carom_instruction *i, const carom_instruction *code, const carom_segment *first, uint64_t set,
                    double *slot) {
#if defined(__GNUC__)
#define X(name, ...) [CAROM_OP_##name] = &&at_OP_##name,
#define FUSED(name, value) [CAROM_TAPE_##name] = &&at_TAPE_##name,
    static const void *const label[] = {
        CAROM_PLAIN(X) RING_OPERATIONS(X) CAROM_FUSED(FUSED)[CAROM_OP_PAIR] = &&at_OP_PAIR,
        [CAROM_OP_CURVE] = &&at_OP_CURVE, [CAROM_TAPE_SINCOS] = &&at_TAPE_SINCOS, [CAROM_TAPE_END] = &&at_TAPE_END};
#undef X
#undef FUSED
#endif
    uint64_t executed = 0;
    if (!i) {
    next_segment:
        if (!set) return executed;
        const carom_segment *const s = first + lowest(set);
        set &= set - 1;
        executed += (uint64_t)s->count;
        i = code + s->first;
    }
    DISPATCH;
#if !defined(__GNUC__)
again:
    switch (i->op) {
#endif
#define X(name, value, lanes)                                                                      \
    CASE(OP_##name) : slot[i->dst] = carom_value(CAROM_OP_##name, slot[i->a], slot[i->b], slot[i->c]); \
    ++i;                                                                                           \
    DISPATCH;
    CAROM_PLAIN(X)
#undef X
#define FUSED(name, value)                                                                         \
    CASE(TAPE_##name) : {                                                                          \
        const double A = slot[i->a], B = slot[i->b], C = slot[i->c], D = slot[i->d];               \
        (void)C, (void)D;                                                                          \
        slot[i->dst] = value;                                                                      \
    }                                                                                              \
    ++i;                                                                                           \
    DISPATCH;
    CAROM_FUSED(FUSED)
#undef FUSED
    // Compilers that know sincos() make one call of the two.  (An inline version without fma took 30 ns, libm 22.)
    CASE(TAPE_SINCOS) : {
        const double a = slot[i->a], s = sin(a), c = cos(a);
        slot[i->dst] = s;
        slot[i->b] = c;
    }
    ++i;
    DISPATCH;
    CASE(OP_PAIR) : {
        const double a = slot[i->a], b = slot[i->b];
        slot[i->dst] = a;
        slot[i->dst + 1] = b;
    }
    ++i;
    DISPATCH;
#define X(name)                                                                                    \
    CASE(OP_##name) : slot[i->dst] = nearest(CAROM_OP_##name, slot + i->a, slot + i->b, slot + i->c); \
    ++i;                                                                                           \
    DISPATCH;
    RING_OPERATIONS(X)
#undef X
    CASE(OP_CURVE) : slot[i->dst] = carom_curve_value(slot + i->b, i->c, slot[i->a], slot[i->a]);
    ++i;
    DISPATCH;
    CASE(TAPE_END) : goto next_segment;
#if !defined(__GNUC__)
    }
    return executed; // no other instructions exist
#endif
}

// An operation with pieces on the one it was on when slots were was[].
static inline double on_piece(const carom_instruction *i, const double *slot, const double *was) {
    switch (i->op) {
    case CAROM_OP_ABS: return was[i->a] < 0 ? -slot[i->a] : slot[i->a];
    case CAROM_OP_MIN: return slot[was[i->a] < was[i->b] ? i->a : i->b]; // as derivatives have it
    case CAROM_OP_MAX: return slot[was[i->a] > was[i->b] ? i->a : i->b];
    case CAROM_OP_CURVE: return carom_curve_value(slot + i->b, i->c, was[i->a], slot[i->a]);
    default: return was[i->dst]; // comparisons, sign, floor
    }
}

// One segment, with everything piecewise on the piece it was on when slots were was[].
static void run_pieces(const carom_instruction *code, const carom_segment *s, double *slot, const double *was) {
    for (const carom_instruction *i = code + s->first, *end = i + s->count; i < end; ++i)
        switch (i->op) {
        case CAROM_TAPE_SINCOS: {
            const double a = slot[i->a], s = sin(a), c = cos(a); // one call, as in run()
            slot[i->dst] = s;
            slot[i->b] = c;
        } break;
        case CAROM_OP_PAIR: slot[i->dst] = slot[i->a], slot[i->dst + 1] = slot[i->b]; break;
#define X(name)                                                                                                        \
    case CAROM_OP_##name: slot[i->dst] = nearest(CAROM_OP_##name, slot + i->a, slot + i->b, slot + i->c); break;
            RING_OPERATIONS(X)
#undef X
#define X(name) case CAROM_OP_##name: slot[i->dst] = on_piece(i, slot, was); break;
            X(ABS)
            X(MIN) X(MAX) X(CURVE) X(LT) X(LE) X(GT) X(GE) X(EQ) X(NE) X(SIGN) X(FLOOR)
#undef X
#define X(name)                                                                                                        \
    case CAROM_OP_##name:                                                                                              \
        slot[i->dst] = carom_value(CAROM_OP_##name, slot[i->a], slot[i->b], slot[i->c]);                               \
        break;
                X(ADD) X(SUB) X(MUL) X(DIV) X(POW) X(NEG) X(IF) X(SIN) X(COS) X(TAN) X(ASIN) X(ACOS) X(ATAN) X(ATAN2)
                    X(SINH) X(COSH) X(TANH) X(EXP) X(LOG) X(SQRT) X(HYPOT)
#undef X
#define FUSED(name, value)                                                                         \
        case CAROM_TAPE_##name: {                                                              \
            const double A = slot[i->a], B = slot[i->b], C = slot[i->c], D = slot[i->d];       \
            (void)C, (void)D;                                                                  \
            slot[i->dst] = value;                                                              \
        } break;
                        CAROM_FUSED(FUSED)
#undef FUSED
        }
}

// The same as run(), held: segments without pieces are as ever.
static uint64_t run_held(const carom_tape *tape, int word, uint64_t set, double *slot, const double *was) {
    const carom_segment *first = tape->segment + 64 * word;
    uint64_t executed = 0;
    while (set) {
        const uint64_t held = set & tape->pieces[word], next = held & -held, before = set & (next - 1); // next = 0: all
        if (before) executed += run(NULL, tape->code, first, before, slot);
        if (next)
            run_pieces(tape->code, first + lowest(next), slot, was), executed += (uint64_t)first[lowest(next)].count;
        set &= ~(before | next);
    }
    return executed;
}

// The same as run() from compiled code; segments that have none are interpreted.
static uint64_t run_native(const carom_tape *tape, int word, uint64_t set, double *slot) {
    uint64_t executed = 0;
    for (; set; set &= set - 1) {
        const int s = 64 * word + lowest(set);
        carom_native_piece *const piece = tape->native->segment[s];
        if (piece) piece(slot, carom_ring_nearest), executed += (uint64_t)tape->segment[s].count;
        else executed += run(NULL, tape->code, tape->segment + s, 1, slot);
    }
    return executed;
}

// Bring what a list needs up to date, segment by segment.  Most tapes have one word of them.
static void refresh(const carom_tape *tape, void *work, int list, double *slot, const double *was) {
    carom_tape_state *state = work;
    uint64_t *valid = valid_sets(work);
    const uint64_t *needs = tape->needs + (size_t)list * (size_t)tape->nwords;
    int w = 0;
    do {
        const uint64_t set = needs[w] & ~valid[w];
        if (!set) continue;
        valid[w] |= set;
        const carom_segment *first = tape->segment + 64 * w;
        if (was) state->executed += run_held(tape, w, set, slot, was);
        else if (tape->native) state->executed += run_native(tape, w, set, slot);
        else state->executed += run(NULL, tape->code, first, set, slot);
    } while (++w < tape->nwords);
}

// Is there a plan, and as compiled code where that is used?
static bool planned(const carom_tape *tape, carom_plan plan, int number) {
    return plan.first >= 0 && (!tape->native || tape->native->plan[number]);
}

static void follow(const carom_tape *tape, void *work, carom_plan plan, int number, double *slot) {
    if (tape->native) tape->native->plan[number](slot, carom_ring_nearest);
    else run(tape->code + plan.first, NULL, NULL, 0, slot);
    ((carom_tape_state *)work)->executed += (uint64_t)plan.length;
}

// The same for a group, by a plan if there is one.  fresh: nothing of it is valid.
static inline void refresh_group(const carom_tape *tape, void *work, int group, bool fresh, double *slot) {
    const carom_outputs *o = tape->group + group;
    uint64_t *valid = valid_sets(work);
    const uint64_t *needs = tape->needs + (size_t)group * (size_t)tape->nwords;
    if (tape->nwords == 1 && (needs[0] & ~valid[0]) == 0) return; // mostly asked for before at this point
    if (fresh && planned(tape, o->all, 2 * group)) {
        int w = 0;
        do valid[w] |= needs[w];
        while (++w < tape->nwords);
        follow(tape, work, o->all, 2 * group, slot);
    } else if (planned(tape, o->rest, 2 * group + 1) && (needs[0] & ~valid[0]) == o->rest.set) {
        valid[0] |= needs[0];
        follow(tape, work, o->rest, 2 * group + 1, slot);
    } else if (tape->nwords == 1 && !tape->native) {
        const uint64_t set = needs[0] & ~valid[0];
        valid[0] |= set;
        ((carom_tape_state *)work)->executed += run(NULL, tape->code, tape->segment, set, slot);
    } else {
        refresh(tape, work, group, slot, NULL);
    }
}

static inline void forget(const carom_tape *tape, void *work, int class) {
    uint64_t *valid = valid_sets(work);
    if (class == CAROM_CLASS_POSITION) ++((carom_tape_state *)work)->moves;
    if (tape->nwords == 1) {
        valid[0] &= ~tape->fades[class];
        return;
    }
    const uint64_t *fades = tape->fades + (size_t)class * (size_t)tape->nwords;
    int w = 0;
    do valid[w] &= ~fades[w];
    while (++w < tape->nwords);
}

size_t carom_tape_work_size(const carom_tape *tape) {
    return sizeof(carom_tape_state) + (size_t)tape->nwords * sizeof(uint64_t) + (size_t)tape->nslots * sizeof(double);
}

void carom_tape_work_init(const carom_tape *tape, void *work, const double *parameters) {
    memset(work, 0, carom_tape_work_size(tape));
    double *x = slots(tape, work), *p = x + 1 + tape->nq + tape->nv;
    if (tape->nparameters) memcpy(p, parameters, (size_t)tape->nparameters * sizeof *p);
    if (tape->nnumbers) memcpy(p + tape->nparameters, tape->number, (size_t)tape->nnumbers * sizeof *p);
    refresh(tape, work, tape->ngroups, x, NULL);
    ((carom_tape_state *)work)->executed = 0;
}

static inline bool differ(double a, double b) {
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x != y;
}

// Copy what has changed.  Bits are compared: NaN equals itself, 0 and -0 differ.  No early way out: lists are short
// and a mispredicted branch costs more than the rest of the loop.
static bool update(double *restrict old, const double *restrict new, int n) {
    uint64_t changed = 0;
    if (n == 1) {
        const bool other = differ(*old, *new);
        *old = *new;
        return other;
    }
    if (n == 2) { // small and often
        const double a = new[0], b = new[1];
        const bool first = differ(old[0], a), second = differ(old[1], b);
        old[0] = a;
        old[1] = b;
        return first || second;
    }
    if (n == 3) {
        uint64_t x[3], y[3];
        memcpy(x, old, sizeof x);
        memcpy(y, new, sizeof y);
        memcpy(old, y, sizeof y);
        return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2])) != 0;
    }
    for (int i = 0; i < n; ++i) {
        uint64_t x, y;
        memcpy(&x, &old[i], sizeof x);
        memcpy(&y, &new[i], sizeof y);
        changed |= x ^ y;
        old[i] = new[i];
    }
    return changed != 0;
}

void carom_tape_work_parameters(const carom_tape *tape, void *work, const double *parameters) {
    double *x = slots(tape, work);
    if (!update(x + 1 + tape->nq + tape->nv, parameters, tape->nparameters)) return;
    memset(valid_sets(work), 0, (size_t)tape->nwords * sizeof(uint64_t));
    ++((carom_tape_state *)work)->moves;
    refresh(tape, work, tape->ngroups, x, NULL);
}

static inline void copy(double *restrict to, const double *restrict from, int n) {
    if (n == 1) to[0] = from[0]; // small and often
    else if (n == 2) to[0] = from[0], to[1] = from[1];
    else for (int i = 0; i < n; ++i) to[i] = from[i];
}

// Four at a time: with short lists the loop itself would cost as much as the copying.
static void gather(double *restrict out, const double *restrict x, const int *restrict from, int n) {
    for (; n >= 4; n -= 4, from += 4, out += 4) {
        const double a = x[from[0]], b = x[from[1]], c = x[from[2]], d = x[from[3]];
        out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    }
    for (int i = 0; i < n; ++i) out[i] = x[from[i]];
}

// The point a group is asked for goes into the slots; true: (t, q) is another one than before.
static inline bool look(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v) {
    double *x = slots(tape, work);
    const carom_outputs *o = tape->group + group;
    bool moved = false;
    if (o->reads >= CAROM_CLASS_POSITION) {
        moved = tape->timed && differ(*x, t); // mostly time tells, where it is one of the inputs
        *x = t;
        if (moved) copy(x + 1, q, tape->nq);
        else moved = update(x + 1, q, tape->nq);
        if (moved) forget(tape, work, CAROM_CLASS_POSITION);
    }
    if (o->reads >= CAROM_CLASS_VELOCITY) {
        if (moved) copy(x + 1 + tape->nq, v, tape->nv);
        else if (update(x + 1 + tape->nq, v, tape->nv)) forget(tape, work, CAROM_CLASS_VELOCITY);
    }
    return moved;
}

// Inside of those who call it: a call would cost as much as what it does at a known point.
static inline carom_values values(const carom_tape *tape, void *work, int group, double t, const double *q,
                                  const double *v) {
    double *x = slots(tape, work);
    refresh_group(tape, work, group, look(tape, work, group, t, q, v), x);
    return (carom_values){x, tape->output + tape->group[group].first};
}

carom_values carom_tape_values(const carom_tape *tape, void *work, int group, double t, const double *q,
                               const double *v) {
    return values(tape, work, group, t, q, v);
}

// The sum of the values of a group is not finite; are they?
static bool finite_outputs(const carom_tape *tape, int group, const double *x) {
    const carom_outputs *o = tape->group + group;
    bool good = true;
    for (int k = 0; k < o->count; ++k) good = good && isfinite(x[tape->output[o->first + k]]);
    return good;
}

// A group at a new point by its own function; sets have one word then.
static bool fill_new(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v,
                     double *const to[3]) {
    uint64_t *valid = valid_sets(work);
    *valid = (*valid & ~tape->fades[CAROM_CLASS_POSITION]) | tape->needs[group];
    const carom_outputs *o = tape->group + group;
    double *x = slots(tape, work);
    ((carom_tape_state *)work)->executed += (uint64_t)o->all.length;
    return tape->native->lists[group](x, carom_ring_nearest, t, q, v, to) == 0 || finite_outputs(tape, group, x);
}

// Returns their sum: where that is finite they are.
static inline double pick(const double *restrict x, const int *restrict place, int n, double *restrict out) {
    double sum = 0;
    if (n == 1) return out[0] = x[place[0]]; // small and often
    for (int i = 0; i < n; ++i) {
        const double y = x[place[i]];
        out[i] = y;
        sum += y;
    }
    return sum;
}

// The same where time does not tell, or without compiled code.  No part of the function below, which is short without.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static bool
fill(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v, double *const to[3]) {
    const carom_outputs *o = tape->group + group;
    double *x = slots(tape, work);
    const bool moved = look(tape, work, group, t, q, v);
    if (moved && tape->native && tape->native->lists[group]) return fill_new(tape, work, group, t, q, v, to);
    refresh_group(tape, work, group, moved, x);
    const int *place = tape->output + o->first;
    double sum = pick(x, place, o->list[0], to[0]);
    for (int k = 1, from = o->list[0]; from < o->count && k < 3; from += o->list[k++])
        sum += pick(x, place + from, o->list[k], to[k]);
    return sum - sum == 0 || finite_outputs(tape, group, x);
}

bool carom_tape_fill(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v,
                     double *const to[3]) {
    const double *x = slots(tape, work);
    // mostly one of them tells
    const bool moved = tape->native && tape->native->lists[group] &&
                       ((tape->timed && differ(x[0], t)) || (tape->nq > 0 && differ(x[1], q[0])));
    return moved ? fill_new(tape, work, group, t, q, v, to) : fill(tape, work, group, t, q, v, to);
}

void carom_tape_eval(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v,
                     double *out) {
    const carom_values x = values(tape, work, group, t, q, v);
    gather(out, x.slot, x.place, tape->group[group].count);
}

// -- held on a piece: two work blocks, one that goes on and one that stays at the point -------------------------------

bool carom_tape_piecewise(const carom_tape *tape) { return tape->piecewise; }

size_t carom_tape_held_size(const carom_tape *tape) {
    return 2 * carom_tape_work_size(tape);
}

const double *carom_tape_point(const carom_tape *tape, void *work) { return slots(tape, work); }

// The first slot of segment s: those of a segment lie side by side, in the order of segments.
static int slot_of(const carom_tape *tape, int s) {
    return s < tape->nsegments ? tape->code[tape->segment[s].first].dst : tape->nslots;
}

// What is valid of a work block: of most tapes only a part was asked for at the point.
static void copy_valid(const carom_tape *tape, void *to, const void *from) {
    const uint64_t *valid = (const uint64_t *)((const carom_tape_state *)from + 1);
    const double *y = (const double *)(valid + tape->nwords);
    double *x = slots(tape, to);
    // the point, parameters and numbers too
    memcpy(to, from, (size_t)((const unsigned char *)(y + slot_of(tape, 0)) - (const unsigned char *)from));
    for (int w = 0; w < tape->nwords; ++w)
        for (uint64_t set = valid[w]; set;) {
            const int first = lowest(set);
            int last = first + 1; // neighbours go together
            while (last < 64 && set >> last & 1) ++last;
            set = last < 64 ? set >> last << last : 0;
            const int start = slot_of(tape, 64 * w + first), end = slot_of(tape, 64 * w + last);
            memcpy(x + start, y + start, (size_t)(end - start) * sizeof *x);
        }
}

static void *staying(const carom_tape *tape, void *held) { return (unsigned char *)held + carom_tape_work_size(tape); }

void carom_tape_hold(const carom_tape *tape, const void *work, void *held) {
    carom_tape_state *was = staying(tape, held);
    copy_valid(tape, was, work);
    if (tape->native) // it leaves out slots that only their own segment reads; pieces may hang on them
        for (int w = 0; w < tape->nwords; ++w)
            run(NULL, tape->code, tape->segment + 64 * w, valid_sets(was)[w], slots(tape, was));
    // velocities change without a move
    was->agreed = valid_sets(was)[0] & ~tape->fades[(size_t)CAROM_CLASS_VELOCITY * (size_t)tape->nwords];
    ((carom_tape_state *)held)->agreed = 0;
}

// What a group needs, at the point of the block; interpreted, for the reason above.
static void complete(const carom_tape *tape, void *work, int group) {
    uint64_t *valid = valid_sets(work);
    const uint64_t *needs = tape->needs + (size_t)group * (size_t)tape->nwords;
    int w = 0;
    do {
        const uint64_t set = needs[w] & ~valid[w];
        if (!set) continue;
        valid[w] |= set;
        run(NULL, tape->code, tape->segment + 64 * w, set, slots(tape, work));
    } while (++w < tape->nwords);
}

// By the block that goes on, which begins with what the other has.
static carom_values values_held(const carom_tape *tape, void *held, int group, double t, const double *q,
                                const double *v) {
    carom_tape_state *state = held, *was = staying(tape, held);
    double *x = slots(tape, held);
    if (!state->agreed) copy_valid(tape, held, was);
    state->agreed = 1;
    look(tape, held, group, t, q, v);
    complete(tape, was, group);
    refresh(tape, held, group, x, slots(tape, was));
    return (carom_values){x, tape->output + tape->group[group].first};
}

void carom_tape_eval_held(const carom_tape *tape, void *held, int group, double t, const double *q, const double *v,
                          double *out) {
    const carom_values x = values_held(tape, held, group, t, q, v);
    gather(out, x.slot, x.place, tape->group[group].count);
}

// Has every operation with pieces that a group needs the value of the piece that is held, bit by bit?  What was found
// of a point stays known until the block moves.
static bool agrees(const carom_tape *tape, int group, const carom_tape_state *state, const double *x,
                   carom_tape_state *was) {
    const uint64_t *needs = tape->needs + (size_t)group * (size_t)tape->nwords,
                   *changing = tape->fades + (size_t)CAROM_CLASS_VELOCITY * (size_t)tape->nwords;
    const double *x_0 = slots(tape, was);
    if (was->moves != state->moves) was->agreed = 0;
    was->moves = state->moves;
    for (int w = 0; w < tape->nwords; ++w)
        for (uint64_t set = needs[w] & tape->pieces[w] & ~(w == 0 ? was->agreed : 0); set; set &= set - 1) {
            const int s = 64 * w + lowest(set);
            for (int k = tape->piece_at[s]; k < tape->piece_at[s + 1]; ++k) {
                const carom_instruction *i = tape->code + tape->piece[k];
                if (differ(on_piece(i, x, x_0), x[i->dst])) return false;
            }
            if (w == 0) was->agreed |= set & -set & ~changing[0];
        }
    return true;
}

carom_values carom_tape_values_held(const carom_tape *tape, void *work, void *held, int group, double t,
                                    const double *q, const double *v) {
    if (tape->native) return values_held(tape, held, group, t, q, v); // slots that pieces hang on may be missing
    carom_tape_state *was = staying(tape, held);
    const carom_values x = carom_tape_values(tape, work, group, t, q, v);
    complete(tape, was, group);
    return agrees(tape, group, work, x.slot, was) ? x : values_held(tape, held, group, t, q, v);
}
