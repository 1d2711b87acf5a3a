// range.c: what values expressions may have on a piece of a motion: the tape in interval arithmetic, along lines.
//
// Every operation gives bounds of its value for all arguments within their bounds; the same argument twice counts as
// two, except in squares.  So bounds hold always, and they tighten in proportion to the box.  And along the piece, s
// from -1 to 1, a value is not farther than `off` from the line mid + s slope: arguments that move together count as
// one there, and `off` goes with the square of the length.  Rounding is not added.
#include "base/tolerance.h"
#include "expr/curve.h"
#include "base/pi.h"
#include "expr/graph.h"
#include "expr/native.h"
#include "expr/parts.h"
#include "expr/tape.h"
#include <math.h>
#include <stdlib.h>

typedef carom_range range;

static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double clamp(double a) { return larger(0, smaller(a, 1)); } // to 0 .. 1

static range point(double x) { return (range){.low = x, .high = x}; }
static range whole(bool jumps) { return (range){.low = -HUGE_VAL, .high = HUGE_VAL, .jumps = jumps}; }
// The order is not known, or there is none: then nothing is.
static range between(double a, double b, bool jumps) {
    return a <= b  ? (range){.low = a, .high = b, .jumps = jumps}
           : b < a ? (range){.low = b, .high = a, .jumps = jumps}
                   : whole(jumps);
}
static range hull(range a, range b, bool jumps) { return between(fmin(a.low, b.low), fmax(a.high, b.high), jumps); }

// -- lines -----------------------------------------------------------------------------------------------------------

// No better line is known than the middle of the bounds.
static range flat(range x) {
    range y = between(x.low, x.high, x.jumps);
    const double width = y.high - y.low;
    y.lined = true;
    y.mid = width < HUGE_VAL ? y.low + 0.5 * width : 0;
    y.off = 0.5 * width;
    return y;
}

// A line besides the bounds of x; either makes the other one better.  Lines are rounded where they are large, and must
// not be worse than bounds where these are small.
static const double ROUNDED = CAROM_ROUNDING;
static inline void lay(range *x, double low, double high, bool jumps, double mid, double slope, double off) {
    const double far = (fabs(slope) + off) * (1 + ROUNDED) + ROUNDED * fabs(mid);
    x->low = larger(mid - far, low);
    x->high = smaller(mid + far, high);
    x->mid = mid, x->slope = slope, x->off = off;
    x->jumps = jumps, x->lined = true;
    if (!(off <= 0.5 * (x->high - x->low))) *x = flat(*x);
}
static range along(range x, double mid, double slope, double off) {
    range y;
    lay(&y, x.low, x.high, x.jumps, mid, slope, off);
    return y;
}

// f(a), in x by its bounds:  f = f(mid) + f'(mid) (a - mid) + h (a - mid)^2,  h between bounds of f''/2
static range curved(range x, const range *a, double f, double slope, double h_low, double h_high) {
    if (!(a->mid >= a->low && a->mid <= a->high)) return flat(x);
    const double far = fabs(a->slope) + a->off, low = smaller(h_low, 0) * far * far,
                 high = larger(h_high, 0) * far * far;
    return along(x, f + 0.5 * (low + high), slope * a->slope, fabs(slope) * a->off + 0.5 * (high - low));
}

carom_range carom_range_along(double from, double to, double off) {
    const range x = {.low = smaller(from, to) - off, .high = larger(from, to) + off};
    return along(x, 0.5 * (from + to), 0.5 * (to - from), off);
}

// -- operations -------------------------------------------------------------------------------------------------------

// 0 times infinity is 0 here: what is multiplied is finite, only its bound is not.
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
static range bounded_product(const range *a, const range *b) {
    const double w = a->low * b->low, x = a->low * b->high, y = a->high * b->low, z = a->high * b->high;
    const bool jumps = a->jumps || b->jumps;
    if (fabs(w + x + y + z) < HUGE_VAL)
        return (range){
            .low = smaller(smaller(w, x), smaller(y, z)), .high = larger(larger(w, x), larger(y, z)), .jumps = jumps};
    const double p[4] = {times(a->low, b->low), times(a->low, b->high), times(a->high, b->low),
                         times(a->high, b->high)};
    return between(fmin(fmin(p[0], p[1]), fmin(p[2], p[3])), fmax(fmax(p[0], p[1]), fmax(p[2], p[3])), jumps);
}

static range negative(range a) {
    range x = a;
    x.low = -a.high, x.high = -a.low, x.mid = -a.mid, x.slope = -a.slope;
    return x;
}
static range magnitude(range a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? negative(a) : (range){.high = larger(-a.low, a.high), .jumps = a.jumps};
}
static range bounded_square(const range *a) {
    const range x = magnitude(*a);
    return (range){.low = x.low * x.low, .high = x.high * x.high, .jumps = a->jumps};
}

static inline bool is_point(const range *a) { return a->low == a->high; }

static inline void scale(range *x, const range *a, double by) {
    const double y = by * a->low, z = by * a->high;
    x->low = smaller(y, z), x->high = larger(y, z);
    x->mid = by * a->mid, x->slope = by * a->slope, x->off = fabs(by) * a->off;
    x->jumps = a->jumps, x->lined = true;
}

// (m + k s)(n + l s) = m n + (m l + n k) s + k l s^2,  s^2 between 0 and 1
static void multiply(range *x, const range *a, const range *b) {
    if (is_point(a) && b->off < HUGE_VAL) return scale(x, b, a->low);
    if (is_point(b) && a->off < HUGE_VAL) return scale(x, a, b->low);
    const double both = 0.5 * a->slope * b->slope;
    const double off =
        fabs(both) + a->off * (fabs(b->mid) + fabs(b->slope) + b->off) + b->off * (fabs(a->mid) + fabs(a->slope));
    const range y = a == b ? bounded_square(a) : bounded_product(a, b);
    lay(x, y.low, y.high, y.jumps, a->mid * b->mid + both, a->mid * b->slope + b->mid * a->slope, off);
}

static inline void add(range *x, const range *a, const range *b) {
    lay(x, a->low + b->low, a->high + b->high, a->jumps || b->jumps, a->mid + b->mid, a->slope + b->slope,
        a->off + b->off);
}
static inline void subtract(range *x, const range *a, const range *b) {
    lay(x, a->low - b->high, a->high - b->low, a->jumps || b->jumps, a->mid - b->mid, a->slope - b->slope,
        a->off + b->off);
}

static range inverse(const range *a) {
    if (a->low <= 0 && a->high >= 0) return flat(whole(true));
    const double f = 1 / a->mid, low = 1 / a->high, high = 1 / a->low;
    return curved((range){.low = low, .high = high, .jumps = a->jumps}, a, f, -f * f, low * low * low,
                  high * high * high);
}

// Of a function that grows, or falls, everywhere.
static range monotone(double (*f)(double), range a) { return between(f(a.low), f(a.high), a.jumps); }

// Is one of the points at + k period, k whole, in a?
static bool holds(range a, double at, double period) {
    return floor((a.high - at) / period) >= ceil((a.low - at) / period);
}

static range wide_cosine(range a, double shift) { // cos(a - shift)
    if (!(a.high - a.low < 2 * PI)) return (range){.low = -1, .high = 1, .jumps = a.jumps};
    const double x = cos(a.low - shift), y = cos(a.high - shift);
    return (range){.low = holds(a, PI + shift, 2 * PI) ? -1 : fmin(x, y),
                   .high = holds(a, shift, 2 * PI) ? 1 : fmax(x, y),
                   .jumps = a.jumps};
}

// f with f'' = -f: sine or cosine.  On a wide piece lines say little.
static void wave(range *x, const range *a, double f, double slope, double shift) {
    // rad: beyond, e^2/2 is more than an eighth, and the parabola bounds no better than all values
    static const double WIDE = 0.5;
    const double far = fabs(a->slope) + a->off, e = 0.5 * far * far, low = -e * clamp(f + far),
                 high = e * clamp(far - f);
    if (!(far < WIDE)) *x = flat(wide_cosine(*a, shift));
    else lay(x, -1, 1, a->jumps, f + 0.5 * (low + high), slope * a->slope, fabs(slope) * a->off + 0.5 * (high - low));
}

static void waves(range *sine, range *cosine, const range *a) {
    const double s = sin(a->mid), c = cos(a->mid);
    wave(sine, a, s, c, PI / 2);
    wave(cosine, a, c, -s, 0);
}

static range root(const range *a) {
    const range x = {.low = sqrt(larger(a->low, 0)), .high = sqrt(larger(a->high, 0)), .jumps = a->jumps};
    return a->low > 0 ? curved(x, a, sqrt(a->mid), 0.5 / sqrt(a->mid), -0.125 / (a->low * x.low), 0) : x;
}

static range exponential(const range *a) {
    const double f = exp(a->mid), high = exp(a->high);
    return curved((range){.low = exp(a->low), .high = high, .jumps = a->jumps}, a, f, f, 0, 0.5 * high);
}

static range tangent(range a) {
    if (!(a.high - a.low < PI) || holds(a, PI / 2, PI)) return whole(true);
    return monotone(tan, a);
}

static range clipped(range a, double low, double high) {
    return between(fmin(fmax(a.low, low), high), fmax(fmin(a.high, high), low), a.jumps);
}

static range over(range a) { return a.low <= 0 && a.high >= 0 ? whole(true) : between(1 / a.high, 1 / a.low, a.jumps); }

// a^b: whole powers of anything; else of what is positive.
static range power(range a, range b) {
    if (b.low == b.high && b.low == floor(b.low)) {
        if (b.low < 0) return over(power(a, point(-b.low)));
        const bool even = fmod(b.low, 2) == 0;
        const range x = even ? magnitude(a) : a;
        return between(pow(x.low, b.low), pow(x.high, b.low), a.jumps || b.jumps);
    }
    if (!(a.low > 0) && !(a.low >= 0 && b.low > 0)) return whole(true);
    const double x[4] = {pow(a.low, b.low), pow(a.low, b.high), pow(a.high, b.low), pow(a.high, b.high)};
    return between(fmin(fmin(x[0], x[1]), fmin(x[2], x[3])), fmax(fmax(x[0], x[1]), fmax(x[2], x[3])),
                   a.jumps || b.jumps);
}

// Along the sides of a box without a part of the cut an angle grows or falls, so it is most at corners.
static range angle(range y, range x) {
    if (x.low <= 0 && y.low <= 0 && y.high >= 0) return (range){.low = -PI, .high = PI, .jumps = true};
    const double c[4] = {atan2(y.low, x.low), atan2(y.low, x.high), atan2(y.high, x.low), atan2(y.high, x.high)};
    return between(fmin(fmin(c[0], c[1]), fmin(c[2], c[3])), fmax(fmax(c[0], c[1]), fmax(c[2], c[3])),
                   x.jumps || y.jumps);
}

// 1 or 0, or not decided.
static range decided(bool yes, bool no) {
    return yes ? point(1) : no ? point(0) : (range){.low = 0, .high = 1, .jumps = true};
}

static range choice(range c, range a, range b) {
    if (c.low > 0 || c.high < 0) return a;
    return c.low == 0 && c.high == 0 ? b : hull(a, b, true);
}

static bool joined(double a, double b) {
    static const double JOINED = 1e-9; // of their size: chosen, far above the rounding of coefficients
    return !(fabs(a - b) > JOINED * (fabs(a) + fabs(b))); // the first piece joins nothing: NaN
}

// Derivative k of a curve: a cubic lies between the least and the largest of  p_0, p_0 + w p_0'/3, p_1 - w p_1'/3, p_1
// over a piece of width w.  Where pieces join without a jump or a kink there is a line, too: p'' is largest at the ends
// of one.
static range along_curve(const double *d, int k, range a) {
    const int n = (int)d[0];
    const double *knot = d + 4,
                 ends[2] = {carom_curve_value(d, k, a.low, a.low), carom_curve_value(d, k, a.high, a.high)};
    if (!(a.low >= -HUGE_VAL) || ends[0] != ends[0] || ends[1] != ends[1]) return whole(true);
    bool lined = k < 2 && a.low >= knot[0] && a.high <= knot[n - 1];
    double last[2] = {NAN, NAN}, bend[2] = {HUGE_VAL, -HUGE_VAL};
    range x = hull(point(ends[0]), point(ends[1]), a.jumps);
    for (int i = 0; i < n - 1; ++i) {
        const double from = fmax(a.low, knot[i]), to = fmin(a.high, knot[i + 1]), at = knot[i], w = (to - from) / 3;
        if (!(from <= to)) continue;
        const double p[2] = {carom_curve_value(d, k, at, from), carom_curve_value(d, k, at, to)};
        const double slope[2] = {k < 3 ? carom_curve_value(d, k + 1, at, from) : 0,
                                 k < 3 ? carom_curve_value(d, k + 1, at, to) : 0};
        x = hull(x, hull(point(p[0]), point(p[0] + w * slope[0]), false), a.jumps);
        x = hull(x, hull(point(p[1]), point(p[1] - w * slope[1]), false), a.jumps);
        lined = lined && joined(p[0], last[0]) && joined(slope[0], last[1]);
        for (int e = 0; lined && e < 2; ++e) {
            const double half = 0.5 * carom_curve_value(d, k + 2, at, e ? to : from);
            bend[0] = fmin(bend[0], half), bend[1] = fmax(bend[1], half);
        }
        last[0] = p[1], last[1] = slope[1];
    }
    if (!lined || !(a.mid >= a.low && a.mid <= a.high)) return x;
    return curved(x, &a, carom_curve_value(d, k, a.mid, a.mid), carom_curve_value(d, k + 1, a.mid, a.mid), bend[0],
                  bend[1]);
}

static range least(range a, range b) {
    if (a.high <= b.low) return a;
    return b.high <= a.low ? b : between(fmin(a.low, b.low), fmin(a.high, b.high), a.jumps || b.jumps);
}

static range length(const range *a, const range *b) {
    const range x = magnitude(*a), y = magnitude(*b);
    range xx, yy, square;
    multiply(&xx, a, a), multiply(&yy, b, b), add(&square, &xx, &yy);
    const range z = root(&square);
    const range bounds = between(hypot(x.low, y.low), hypot(x.high, y.high), a->jumps || b->jumps);
    return z.lined ? along(bounds, z.mid, z.slope, z.off) : bounds;
}

static range sign(range a) {
    return a.low > 0                   ? point(1)
           : a.high < 0                ? point(-1)
           : a.low == 0 && a.high == 0 ? point(0)
                                       : (range){.low = -1, .high = 1, .jumps = true};
}

static range whole_part(range a) {
    return (range){.low = floor(a.low), .high = floor(a.high), .jumps = a.jumps || floor(a.low) != floor(a.high)};
}

static range plain(carom_op op, const range *a, const range *b, const range *c) {
    switch (op) {
    case CAROM_OP_POW: return power(*a, *b);
    case CAROM_OP_LT: return decided(a->high < b->low, a->low >= b->high);
    case CAROM_OP_LE: return decided(a->high <= b->low, a->low > b->high);
    case CAROM_OP_GT: return decided(a->low > b->high, a->high <= b->low);
    case CAROM_OP_GE: return decided(a->low >= b->high, a->high < b->low);
    case CAROM_OP_EQ: return decided(a->low == b->high && a->high == b->low, a->high < b->low || a->low > b->high);
    case CAROM_OP_NE: return decided(a->high < b->low || a->low > b->high, a->low == b->high && a->high == b->low);
    case CAROM_OP_IF: return choice(*a, *b, *c);
    case CAROM_OP_TAN: return tangent(*a);
    case CAROM_OP_ASIN: return monotone(asin, clipped(*a, -1, 1));
    case CAROM_OP_ACOS: return monotone(acos, clipped(*a, -1, 1)); // falls
    case CAROM_OP_ATAN: return monotone(atan, *a);
    case CAROM_OP_ATAN2: return angle(*a, *b);
    case CAROM_OP_SINH: return monotone(sinh, *a);
    case CAROM_OP_COSH: return monotone(cosh, magnitude(*a));
    case CAROM_OP_TANH: return monotone(tanh, *a);
    case CAROM_OP_EXP: return exponential(a);
    case CAROM_OP_LOG: return monotone(log, clipped(*a, 0, HUGE_VAL));
    case CAROM_OP_SQRT: return root(a);
    case CAROM_OP_ABS: return magnitude(*a);
    case CAROM_OP_SIGN: return sign(*a);
    case CAROM_OP_MIN: return least(*a, *b);
    case CAROM_OP_MAX: return negative(least(negative(*a), negative(*b)));
    case CAROM_OP_HYPOT: return length(a, b);
    case CAROM_OP_FLOOR: return whole_part(*a);
    default: return whole(true); // nearest places of rings
    }
}

static void run(const carom_instruction *i, const double *slot, range *all) {
    const range *a = all + i->a, *b = all + i->b, *c = all + i->c;
    range *x = all + i->dst, y, z; // of two operations in one: y is the first
    switch (i->op) {
    case CAROM_OP_ADD: return add(x, a, b);
    case CAROM_OP_SUB: return subtract(x, a, b);
    case CAROM_OP_MUL: return multiply(x, a, b);
    case CAROM_OP_DIV: return y = inverse(b), multiply(x, a, &y);
    case CAROM_OP_NEG: return scale(x, a, -1);
    case CAROM_TAPE_MUL_ADD: return multiply(&y, a, b), add(x, &y, c);
    case CAROM_TAPE_MUL_SUB: return multiply(&y, a, b), subtract(x, &y, c);
    case CAROM_TAPE_SUB_MUL: return multiply(&y, a, b), subtract(x, c, &y);
    case CAROM_TAPE_DOT_ADD: return multiply(&y, a, b), multiply(&z, c, all + i->d), add(x, &y, &z);
    case CAROM_TAPE_DOT_SUB: return multiply(&y, a, b), multiply(&z, c, all + i->d), subtract(x, &y, &z);
    case CAROM_TAPE_NEG_MUL: return multiply(&y, a, b), scale(x, &y, -1);
    case CAROM_TAPE_MUL_MUL: return multiply(&y, a, b), multiply(x, &y, c);
    case CAROM_TAPE_ADD_MUL: return add(&y, a, b), multiply(x, &y, c);
    case CAROM_TAPE_DIF_MUL: return subtract(&y, a, b), multiply(x, &y, c);
    case CAROM_TAPE_ADD_ADD: return add(&y, a, b), add(x, &y, c);
    case CAROM_TAPE_ADD_SUB: return add(&y, a, b), subtract(x, &y, c);
    case CAROM_TAPE_DIF_ADD: return subtract(&y, a, b), add(x, &y, c);
    case CAROM_TAPE_DIF_SUB: return subtract(&y, a, b), subtract(x, &y, c);
    case CAROM_TAPE_SUB_ADD: return add(&y, a, b), subtract(x, c, &y);
    case CAROM_TAPE_SUB_DIF: return subtract(&y, a, b), subtract(x, c, &y);
    case CAROM_TAPE_SINCOS: return waves(x, all + i->b, a);
    case CAROM_OP_SIN: return waves(x, &y, a);
    case CAROM_OP_COS: return waves(&y, x, a);
    case CAROM_OP_PAIR: x[0] = *a, x[1] = *b; return;
    default:
        y = i->op == CAROM_OP_CURVE ? along_curve(slot + i->b, i->c, *a) : plain((carom_op)i->op, a, b, c);
        *x = y.lined ? y : flat(y);
    }
}

// -- a part of a tape -------------------------------------------------------------------------------------------------

struct carom_tape_part {
    int ninputs, npoints, ncode;
    int *input; // slots of time, positions and velocities
    int *point; // of parameters, numbers, and what they alone make
    int *maker; // of every slot: the instruction that writes it; -1: none, -2: it is a point
    // Instructions that a wanted slot needs, in order, from first[i] to first[i + 1]; NULL: these lists would be long.
    int *first, *cone;
    carom_instruction code[];
};

static bool of_motion(const carom_segment *s) { return s->class > CAROM_CLASS_PARAMETER; }

static bool writes(const carom_instruction *i, const bool *live) {
    int slot[2];
    const int n = carom_native_writes(i, slot);
    return live[slot[0]] || (n > 1 && live[slot[1]]);
}

// Backwards: what is read by somebody who is read.
static int trace(const carom_tape *t, bool *live) {
    int count = 0;
    for (int s = t->nsegments - 1; s >= 0; --s)
        for (int k = t->segment[s].count - 1; k >= 0 && of_motion(&t->segment[s]); --k) {
            const carom_instruction *i = t->code + t->segment[s].first + k;
            int in[6];
            if (!writes(i, live)) continue;
            for (int e = 0, n = carom_native_reads(i, in); e < n; ++e) live[in[e]] = true;
            ++count;
        }
    return count;
}

static void fill(carom_tape_part *p, const carom_tape *t, bool *live) {
    p->ncode = 0;
    for (int s = 0; s < t->nsegments; ++s)
        for (int k = 0; k < t->segment[s].count && of_motion(&t->segment[s]); ++k) {
            const carom_instruction *i = t->code + t->segment[s].first + k;
            int out[2];
            if (!writes(i, live)) continue;
            p->code[p->ncode++] = *i;
            for (int e = carom_native_writes(i, out) - 1; e >= 0; --e) live[out[e]] = false;
        }
    for (int i = 0; i < t->nslots; ++i)
        if (live[i]) *(i < 1 + t->nq + t->nv ? &p->input[p->ninputs++] : &p->point[p->npoints++]) = i;
}

enum { CONES = 8 }; // room for their lists, in instructions of the part

// Instructions that slot `at` needs and that are not marked with i yet are marked, and appended to the list; at most
// `room`.
static int gather(const carom_tape_part *p, int at, int i, int *mark, int *stack, int *list, int room) {
    int n = 0, depth = 0;
    stack[depth++] = at;
    while (depth > 0) {
        const int k = p->maker[stack[--depth]];
        int in[6];
        if (k < 0 || mark[k] == i) continue;
        if (n == room) return -1;
        mark[k] = i;
        list[n++] = k;
        for (int e = 0, count = carom_native_reads(&p->code[k], in); e < count; ++e)
            if (p->maker[in[e]] >= 0 && mark[p->maker[in[e]]] != i) stack[depth++] = in[e];
    }
    return n;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// false: no memory.  Slots that share much have no lists of their own.
static bool make_cones(carom_tape_part *p, const carom_tape *t, const int *place, int n) {
    const int room = CONES * (p->ncode + 1);
    int used = 0;
    int *mark = malloc(((size_t)p->ncode + 1) * sizeof *mark);
    int *stack = malloc((6 * (size_t)p->ncode + 8) * sizeof *stack);
    const bool memory = mark && stack;
    for (int i = 0; i < t->nslots; ++i) p->maker[i] = -1;
    for (int k = 0; k < p->npoints; ++k) p->maker[p->point[k]] = -2;
    for (int k = 0; memory && k < p->ncode; ++k) {
        int out[2];
        for (int e = carom_native_writes(&p->code[k], out) - 1; e >= 0; --e) p->maker[out[e]] = k;
        mark[k] = -1;
    }
    for (int i = 0; memory && i < n && p->cone; ++i) {
        const int more = gather(p, place[i], i, mark, stack, p->cone + used, room - used);
        p->first[i] = used;
        if (more < 0) p->cone = NULL;
        else qsort(p->cone + used, (size_t)more, sizeof *p->cone, ascending), used += more;
    }
    if (p->cone) p->first[n] = used;
    free(mark), free(stack);
    return memory;
}

static carom_tape_part *create(const carom_tape *tape, const int *place, int n, bool cones) {
    bool *live = calloc((size_t)tape->nslots + 1, sizeof *live);
    if (!live) return NULL;
    for (int i = 0; i < n; ++i) live[place[i]] = true;
    const size_t code = (size_t)trace(tape, live) * sizeof(carom_instruction);
    const size_t slots = (size_t)tape->nslots, count = code / sizeof(carom_instruction);
    const size_t lists = cones ? slots + (size_t)n + 1 + CONES * (count + 1) : 0;
    carom_tape_part *p = calloc(1, sizeof *p + code + (slots + lists) * sizeof *p->point);
    if (p) {
        p->input = (int *)(void *)((unsigned char *)p->code + code);
        p->point = p->input + 1 + tape->nq + tape->nv;
        fill(p, tape, live);
    }
    if (p && cones) {
        p->maker = p->input + slots;
        p->first = p->maker + slots;
        p->cone = p->first + n + 1;
        if (!make_cones(p, tape, place, n)) free(p), p = NULL;
    }
    free(live);
    return p;
}

carom_tape_part *carom_tape_part_create(const carom_tape *tape, const int *place, int n) {
    return create(tape, place, n, false);
}

carom_tape_part *carom_tape_part_of_each(const carom_tape *tape, const int *place, int n) {
    return create(tape, place, n, true);
}

int carom_tape_part_inputs(const carom_tape_part *part, const int **slot) { return *slot = part->input, part->ninputs; }

static range at_point(double y) {
    return fabs(y) < HUGE_VAL ? (range){.low = y, .high = y, .lined = true, .mid = y} : flat(between(y, y, false));
}

void carom_tape_range_of(const carom_tape *tape, const carom_tape_part *part, int i, const void *work, carom_range *x) {
    if (!part->cone || part->first[i] == part->first[i + 1]) {
        carom_tape_range(tape, part, work, x);
        return;
    }
    const double *slot = carom_tape_slots(tape, (void *)(uintptr_t)work);
    for (int k = part->first[i]; k < part->first[i + 1]; ++k) {
        const carom_instruction *c = &part->code[part->cone[k]];
        int in[6];
        for (int e = 0, n = carom_native_reads(c, in); e < n; ++e)
            if (part->maker[in[e]] == -2) x[in[e]] = at_point(slot[in[e]]);
        run(c, slot, x);
    }
}

void carom_tape_range(const carom_tape *tape, const carom_tape_part *part, const void *work, carom_range *x) {
    const double *slot = carom_tape_slots(tape, (void *)(uintptr_t)work);
    for (int k = 0; k < part->npoints; ++k) x[part->point[k]] = at_point(slot[part->point[k]]);
    for (const carom_instruction *i = part->code, *end = i + part->ncode; i < end; ++i) run(i, slot, x);
}

int carom_tape_range_size(const carom_tape *tape) { return tape->nslots; }
const int *carom_tape_places(const carom_tape *tape, int group) { return tape->output + tape->group[group].first; }
