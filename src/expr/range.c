// range.c: what values expressions may have in a box of inputs: the tape in interval arithmetic.
//
// Every operation gives bounds of its value for all arguments within their bounds; the same argument twice counts as two, except in squares.  So bounds
// hold always, and they tighten in proportion to the box.  Rounding is not added.
#include "expr/curve.h"
#include "expr/graph.h"
#include "expr/tape.h"
#include "expr/value.h"
#include <string.h>

typedef carom_range range;

static const double PI = 3.14159265358979323846;

static range point(double x) { return (range){x, x, false}; }
static range whole(bool jumps) { return (range){-HUGE_VAL, HUGE_VAL, jumps}; }
// The order is not known, or there is none: then nothing is.
static range between(double a, double b, bool jumps) { return a <= b ? (range){a, b, jumps} : b < a ? (range){b, a, jumps} : whole(jumps); }
static range hull(range a, range b, bool jumps) { return between(fmin(a.low, b.low), fmax(a.high, b.high), jumps); }

// 0 times infinity is 0 here: what is multiplied is finite, only its bound is not.
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
static range product(range a, range b) {
    const double x[4] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
    return between(fmin(fmin(x[0], x[1]), fmin(x[2], x[3])), fmax(fmax(x[0], x[1]), fmax(x[2], x[3])), a.jumps || b.jumps);
}
static range magnitude(range a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? (range){-a.high, -a.low, a.jumps} : (range){0, fmax(-a.low, a.high), a.jumps};
}
static range square(range a) {
    const range x = magnitude(a);
    return (range){x.low * x.low, x.high * x.high, a.jumps};
}
static range sum(range a, range b) { return between(a.low + b.low, a.high + b.high, a.jumps || b.jumps); }
static range difference(range a, range b) { return between(a.low - b.high, a.high - b.low, a.jumps || b.jumps); }
static range negative(range a) { return (range){-a.high, -a.low, a.jumps}; }

static range quotient(range a, range b) {
    if (b.low <= 0 && b.high >= 0) return whole(true);
    return product(a, (range){1 / b.high, 1 / b.low, b.jumps});
}

// Of a function that grows, or falls, everywhere.
static range monotone(double (*f)(double), range a) { return between(f(a.low), f(a.high), a.jumps); }

// Is one of the points at + k period, k whole, in a?
static bool holds(range a, double at, double period) { return floor((a.high - at) / period) >= ceil((a.low - at) / period); }

static range cosine(range a, double shift) { // cos(a - shift)
    if (!(a.high - a.low < 2 * PI)) return (range){-1, 1, a.jumps};
    const double x = cos(a.low - shift), y = cos(a.high - shift);
    return (range){holds(a, PI + shift, 2 * PI) ? -1 : fmin(x, y), holds(a, shift, 2 * PI) ? 1 : fmax(x, y), a.jumps};
}

static range tangent(range a) {
    if (!(a.high - a.low < PI) || holds(a, PI / 2, PI)) return whole(true);
    return monotone(tan, a);
}

static range clipped(range a, double low, double high) { return (range){fmin(fmax(a.low, low), high), fmax(fmin(a.high, high), low), a.jumps}; }

// a^b: whole powers of anything; else of what is positive.
static range power(range a, range b) {
    if (b.low == b.high && b.low == floor(b.low)) {
        if (b.low < 0) return quotient(point(1), power(a, point(-b.low)));
        const bool even = fmod(b.low, 2) == 0;
        const range x = even ? magnitude(a) : a;
        return between(pow(x.low, b.low), pow(x.high, b.low), a.jumps || b.jumps);
    }
    if (!(a.low > 0) && !(a.low >= 0 && b.low > 0)) return whole(true);
    const double x[4] = {pow(a.low, b.low), pow(a.low, b.high), pow(a.high, b.low), pow(a.high, b.high)};
    return between(fmin(fmin(x[0], x[1]), fmin(x[2], x[3])), fmax(fmax(x[0], x[1]), fmax(x[2], x[3])), a.jumps || b.jumps);
}

// Along the sides of a box without a part of the cut an angle grows or falls, so it is most at corners.
static range angle(range y, range x) {
    if (x.low <= 0 && y.low <= 0 && y.high >= 0) return (range){-PI, PI, true};
    const double c[4] = {atan2(y.low, x.low), atan2(y.low, x.high), atan2(y.high, x.low), atan2(y.high, x.high)};
    return between(fmin(fmin(c[0], c[1]), fmin(c[2], c[3])), fmax(fmax(c[0], c[1]), fmax(c[2], c[3])), x.jumps || y.jumps);
}

// 1 or 0, or not decided.
static range decided(bool yes, bool no) { return yes ? point(1) : no ? point(0) : (range){0, 1, true}; }

static range choice(range c, range a, range b) {
    if (c.low > 0 || c.high < 0) return a;
    return c.low == 0 && c.high == 0 ? b : hull(a, b, true);
}

// Derivative k of a curve: a cubic lies between the least and the largest of  p_0, p_0 + w p_0'/3, p_1 - w p_1'/3, p_1  over a piece of width w.
static range along_curve(const double *d, int k, range a) {
    const int n = (int)d[0];
    const double *knot = d + 4, ends[2] = {carom_curve_value(d, k, a.low, a.low), carom_curve_value(d, k, a.high, a.high)};
    if (!(a.low >= -HUGE_VAL) || ends[0] != ends[0] || ends[1] != ends[1]) return whole(true);
    range x = hull(point(ends[0]), point(ends[1]), a.jumps);
    for (int i = 0; i < n - 1; ++i) {
        const double from = fmax(a.low, knot[i]), to = fmin(a.high, knot[i + 1]), at = knot[i], w = (to - from) / 3;
        if (!(from <= to)) continue;
        const double p[2] = {carom_curve_value(d, k, at, from), carom_curve_value(d, k, at, to)};
        const double slope[2] = {k < 3 ? carom_curve_value(d, k + 1, at, from) : 0, k < 3 ? carom_curve_value(d, k + 1, at, to) : 0};
        x = hull(x, hull(point(p[0]), point(p[0] + w * slope[0]), false), a.jumps);
        x = hull(x, hull(point(p[1]), point(p[1] - w * slope[1]), false), a.jumps);
    }
    return x;
}

static range least(range a, range b) { return (range){fmin(a.low, b.low), fmin(a.high, b.high), a.jumps || b.jumps}; }

static range length(range a, range b) {
    const range x = magnitude(a), y = magnitude(b);
    return (range){hypot(x.low, y.low), hypot(x.high, y.high), a.jumps || b.jumps};
}

static range sign(range a) { return a.low > 0 ? point(1) : a.high < 0 ? point(-1) : (range){-1, 1, true}; }

static range whole_part(range a) { return (range){floor(a.low), floor(a.high), a.jumps || floor(a.low) != floor(a.high)}; }

static range plain(carom_op op, range a, range b, range c) {
    switch (op) {
    case CAROM_OP_ADD: return sum(a, b);
    case CAROM_OP_SUB: return difference(a, b);
    case CAROM_OP_MUL: return product(a, b);
    case CAROM_OP_DIV: return quotient(a, b);
    case CAROM_OP_POW: return power(a, b);
    case CAROM_OP_NEG: return negative(a);
    case CAROM_OP_LT: return decided(a.high < b.low, a.low >= b.high);
    case CAROM_OP_LE: return decided(a.high <= b.low, a.low > b.high);
    case CAROM_OP_GT: return decided(a.low > b.high, a.high <= b.low);
    case CAROM_OP_GE: return decided(a.low >= b.high, a.high < b.low);
    case CAROM_OP_EQ: return decided(a.low == b.high && a.high == b.low, a.high < b.low || a.low > b.high);
    case CAROM_OP_NE: return decided(a.high < b.low || a.low > b.high, a.low == b.high && a.high == b.low);
    case CAROM_OP_IF: return choice(a, b, c);
    case CAROM_OP_SIN: return cosine(a, PI / 2);
    case CAROM_OP_COS: return cosine(a, 0);
    case CAROM_OP_TAN: return tangent(a);
    case CAROM_OP_ASIN: return monotone(asin, clipped(a, -1, 1));
    case CAROM_OP_ACOS: return monotone(acos, clipped(a, -1, 1)); // falls
    case CAROM_OP_ATAN: return monotone(atan, a);
    case CAROM_OP_ATAN2: return angle(a, b);
    case CAROM_OP_SINH: return monotone(sinh, a);
    case CAROM_OP_COSH: return monotone(cosh, magnitude(a));
    case CAROM_OP_TANH: return monotone(tanh, a);
    case CAROM_OP_EXP: return monotone(exp, a);
    case CAROM_OP_LOG: return monotone(log, clipped(a, 0, HUGE_VAL));
    case CAROM_OP_SQRT: return monotone(sqrt, clipped(a, 0, HUGE_VAL));
    case CAROM_OP_ABS: return magnitude(a);
    case CAROM_OP_SIGN: return sign(a);
    case CAROM_OP_MIN: return least(a, b);
    case CAROM_OP_MAX: return negative(least(negative(a), negative(b)));
    case CAROM_OP_HYPOT: return length(a, b);
    case CAROM_OP_FLOOR: return whole_part(a);
    default: return whole(true); // nearest places of rings
    }
}

// a b, where the slots say whether it is a square.
static range mul(const range *x, int a, int b) { return a == b ? square(x[a]) : product(x[a], x[b]); }

static void run(const carom_instruction *i, const double *slot, range *x) {
    const range a = x[i->a], c = x[i->c];
    switch (i->op) {
    case CAROM_OP_MUL: x[i->dst] = mul(x, i->a, i->b); break;
    case CAROM_OP_PAIR: x[i->dst] = a, x[i->dst + 1] = x[i->b]; break;
    case CAROM_OP_CURVE: x[i->dst] = along_curve(slot + i->b, i->c, a); break;
    case CAROM_TAPE_SINCOS: x[i->dst] = cosine(a, PI / 2), x[i->b] = cosine(a, 0); break;
    case CAROM_TAPE_MUL_ADD: x[i->dst] = sum(mul(x, i->a, i->b), c); break;
    case CAROM_TAPE_MUL_SUB: x[i->dst] = difference(mul(x, i->a, i->b), c); break;
    case CAROM_TAPE_SUB_MUL: x[i->dst] = difference(c, mul(x, i->a, i->b)); break;
    case CAROM_TAPE_DOT_ADD: x[i->dst] = sum(mul(x, i->a, i->b), mul(x, i->c, i->d)); break;
    case CAROM_TAPE_DOT_SUB: x[i->dst] = difference(mul(x, i->a, i->b), mul(x, i->c, i->d)); break;
    case CAROM_TAPE_NEG_MUL: x[i->dst] = negative(mul(x, i->a, i->b)); break;
    case CAROM_TAPE_MUL_MUL: x[i->dst] = product(mul(x, i->a, i->b), c); break;
    case CAROM_TAPE_ADD_MUL: x[i->dst] = product(sum(a, x[i->b]), c); break;
    case CAROM_TAPE_DIF_MUL: x[i->dst] = product(difference(a, x[i->b]), c); break;
    case CAROM_TAPE_ADD_ADD: x[i->dst] = sum(sum(a, x[i->b]), c); break;
    case CAROM_TAPE_ADD_SUB: x[i->dst] = difference(sum(a, x[i->b]), c); break;
    case CAROM_TAPE_DIF_ADD: x[i->dst] = sum(difference(a, x[i->b]), c); break;
    case CAROM_TAPE_DIF_SUB: x[i->dst] = difference(difference(a, x[i->b]), c); break;
    case CAROM_TAPE_SUB_ADD: x[i->dst] = difference(c, sum(a, x[i->b])); break;
    case CAROM_TAPE_SUB_DIF: x[i->dst] = difference(c, difference(a, x[i->b])); break;
    default: x[i->dst] = plain((carom_op)i->op, a, x[i->b], c);
    }
}

void carom_tape_range(const carom_tape *tape, const void *work, const int *groups, int n, carom_range *x) {
    const double *slot = carom_tape_slots(tape, (void *)(uintptr_t)work);
    const int first = 1 + tape->nq + tape->nv;
    uint32_t wanted = 0;
    for (int k = 0; k < n; ++k) wanted |= 1u << groups[k];
    for (int i = first; i < first + tape->nparameters + tape->nnumbers; ++i) x[i] = point(slot[i]);
    for (int k = 0; k < tape->nsegments; ++k) {
        const carom_segment *s = tape->segment + k;
        if (!(s->groups & wanted)) continue;
        for (const carom_instruction *i = tape->code + s->first, *end = i + s->count; i < end; ++i) run(i, slot, x);
    }
}

int carom_tape_range_size(const carom_tape *tape) { return tape->nslots; }
const int *carom_tape_places(const carom_tape *tape, int group) { return tape->output + tape->group[group].first; }
