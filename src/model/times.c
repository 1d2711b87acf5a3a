// times.c: the times at which expressions jump or have a kink, whatever the state is.
//
// Switches are functions of time that keep their values between these times (carom_graph_switches).  Bounds over an
// interval tell whether one may change there; where they leave it open, the interval is halved.  So no change is
// overlooked, however short what lies between two of them.
#include "expr/parts.h"
#include "model/model.h"
#include <float.h>
#include <math.h>

// Looks down to rounding.  After that, what is taken for an instant doubles with every hundred: bounds of switches that
// nearly change are open nearly everywhere.
enum { MOST = 20000, MORE = 100 };

typedef struct search {
    const carom_model *m;
    void *work;     // of the tape
    carom_range *x;
    double scale;   // of times near 0
    int looks;
} search;

// How far ahead is asked, in steps: twice as far as last time where that went well.
static const double FARTHEST = 64;

// What is known of pulses, for a run: the bounds of each over it; and that all are even on every part, at least `least`
// long, of the times from `from` to `to`. Of switches: that none changes from calm[0] to calm[1].
typedef struct known {
    double run[2], share, from, to, least, steps, calm[2], ahead;
    carom_range *whole;
} known;

size_t carom_times_work(carom_model *m, size_t from) {
    const size_t line = 63;
    m->at.times = (from + line) & ~line;
    m->at.times_ranges = m->at.times + ((carom_tape_work_size(m->times.tape) + line) & ~line);
    m->at.times_known = m->at.times_ranges + (size_t)carom_tape_range_size(m->times.tape) * sizeof(carom_range);
    return m->at.times_known + sizeof(known) + (size_t)m->times.npulses * sizeof(carom_range);
}

static known *known_of(const carom_model *m, void *work) {
    known *k = (known *)(void *)((unsigned char *)work + m->at.times_known);
    k->whole = (carom_range *)(void *)(k + 1);
    return k;
}

static void forget(const carom_model *m, void *work) {
    known *k = known_of(m, work);
    k->run[0] = k->calm[0] = k->calm[1] = NAN;
    k->ahead = 4;
}

void carom_times_work_init(const carom_model *m, void *work, const double *given) {
    if (!m->times.tape) return;
    carom_tape_work_init(m->times.tape, (unsigned char *)work + m->at.times, given);
    forget(m, work);
}

void carom_times_parameters(const carom_model *m, void *work, const double *given) {
    if (!m->times.tape) return;
    carom_tape_work_parameters(m->times.tape, (unsigned char *)work + m->at.times, given);
    forget(m, work);
}

// Does every switch keep its value from a to b?
static bool steady(search *z, double a, double b) {
    const int *place = carom_tape_places(z->m->times.tape, 0);
    z->x[0] = carom_range_along(a, b, 0);
    carom_tape_range(z->m->times.tape, z->m->times.part[0], z->work, z->x);
    for (int i = 0; i < z->m->times.nswitches; ++i)
        if (!(z->x[place[i]].low == z->x[place[i]].high)) return false;
    return true;
}

static bool differ(search *z, double a, double b) {
    const carom_tape *tape = z->m->times.tape;
    carom_values x = carom_tape_values(tape, z->work, 0, a, NULL, NULL);
    for (int i = 0; i < z->m->times.nswitches; ++i) z->x[i].low = x.slot[x.place[i]];
    x = carom_tape_values(tape, z->work, 0, b, NULL, NULL);
    for (int i = 0; i < z->m->times.nswitches; ++i)
        if (x.slot[x.place[i]] != z->x[i].low) return true;
    return false;
}

// Has a switch another value at t than about it?  Not where rounding decides, so that values differ there, too.
static bool alone_at(search *z, double t, double least) {
    enum { NEAR = 10 };
    if (!differ(z, t, t + least)) return false;
    for (int k = 0; k < NEAR; ++k, least *= 2)
        if (differ(z, t - least, t + least) || differ(z, t + least, t + 2 * least)) return false;
    return true;
}

// An instant between a and b, next to each other, at which alone a switch has another value: sign(t^2) at 0, t == 1.
static double alone(search *z, double a, double b, double least) {
    enum { FEW = 8 };
    if (a < 0 && b > 0) return alone_at(z, 0, least) ? 0 : HUGE_VAL;
    double x = nextafter(a, b);
    for (int i = 0; i < FEW && x < b; ++i, x = nextafter(x, b))
        if (alone_at(z, x, least)) return x;
    return HUGE_VAL;
}

// Bounds are rounded: an interval at whose ends switches differ is never taken for steady.
static double first(search *z, double a, double b) {
    // neighbours, or nearly
    const double half = a + 0.5 * (b - a), least = 2 * DBL_EPSILON * fmax(fmax(fabs(a), fabs(b)), z->scale),
                 coarse = ++z->looks > MOST ? ldexp(least, (z->looks - MOST) / MORE) : least;
    const bool change = differ(z, a, b);
    if (!change && steady(z, a, b)) return HUGE_VAL;
    if (!change && !(b - a > coarse)) return coarse > least ? HUGE_VAL : alone(z, a, b, least);
    if (!(b - a > least && half > a && half < b)) return b;
    const double x = first(z, a, half);
    return x < HUGE_VAL ? x : first(z, half, b);
}

// Does no switch change between t_0 and t_1?  Times ahead are asked along, so that steps to come need not.
static bool calm(search *z, known *k, double t_0, double t_1) {
    if (t_0 >= k->calm[0] && t_1 <= k->calm[1]) return true;
    const double to = fmax(t_1, t_0 + k->ahead * (t_1 - t_0));
    const bool good = !differ(z, t_0, to) && steady(z, t_0, to);
    k->ahead = good ? fmin(2 * k->ahead, FARTHEST) : fmax(0.5 * k->ahead, 1);
    if (good) k->calm[0] = t_0, k->calm[1] = to;
    return good;
}

static const double NARROW = 1e-3; // of the interval: jumps that are nearer are told apart by halving

double carom_model_jump(const void *model, void *work, double t_0, double t_1) {
    const carom_model *m = model;
    search z = {.m = m,
                .work = (unsigned char *)work + m->at.times,
                .x = (carom_range *)(void *)((unsigned char *)work + m->at.times_ranges),
                .scale = NARROW * (t_1 - t_0)};
    return t_1 > t_0 && !calm(&z, known_of(m, work), t_0, t_1) ? first(&z, t_0, t_1) : HUGE_VAL;
}

// -- pulses ----------------------------------------------------------------------------------------------------------

enum { PARTS = 16, DEPTH = 24, FINEST = 30 }; // halvings of the run after which bounds that are infinite stay so, and
                                              // after which every part counts as even
static const double FLAT = 1e-6; // of what the function does in the run

static search search_of(const carom_model *m, void *work) {
    return (search){.m = m,
                    .work = (unsigned char *)work + m->at.times,
                    .x = (carom_range *)(void *)((unsigned char *)work + m->at.times_ranges)};
}

// What pulse i is between a and b; the bounds of all are in z->x.
static const carom_range *bounds(search *z, int i) { return &z->x[carom_tape_places(z->m->times.tape, 1)[i]]; }
static void over(search *z, double a, double b) {
    z->x[0] = carom_range_along(a, b, 0);
    carom_tape_range(z->m->times.tape, z->m->times.part[1], z->work, z->x);
}
// Of that one alone.
static carom_range between(search *z, double a, double b, int i) {
    z->x[0] = carom_range_along(a, b, 0);
    carom_tape_range_of(z->m->times.tape, z->m->times.part[1], i, z->work, z->x);
    return *bounds(z, i);
}

static double width(const carom_range *x) { return x->high - x->low; }

// Are the bounds of function i between a and b finite, and not much wider than its values?
static bool tight(search *z, double a, double b, int i) {
    const carom_range x = between(z, a, b, i);
    const double y[3] = {between(z, a, a, i).mid, between(z, 0.5 * (a + b), 0.5 * (a + b), i).mid,
                         between(z, b, b, i).mid};
    const double spread = fmax(fmax(y[0], y[1]), y[2]) - fmin(fmin(y[0], y[1]), y[2]);
    return width(&x) < HUGE_VAL && width(&x) <= 4 * spread + fabs(y[1]);
}

// Bounds of function i over the run, by parts of it: 1/(t^2 - t + 0.2501) is infinite by its bounds on long parts
// alone.  What is infinite on the smallest is left out.
static void by_parts(search *z, carom_range *whole, double a, double b, int i, int depth) {
    if (depth > 0 && !tight(z, a, b, i) && ++z->looks < MOST) {
        by_parts(z, whole, a, 0.5 * (a + b), i, depth - 1);
        by_parts(z, whole, 0.5 * (a + b), b, i, depth - 1);
        return;
    }
    const carom_range x = between(z, a, b, i);
    if (width(&x) < HUGE_VAL) whole->low = fmin(whole->low, x.low), whole->high = fmax(whole->high, x.high);
}

// Functions that are infinite by their bounds nearly everywhere have none.
static void whole_run(search *z, known *k) {
    static const carom_range none = {.low = HUGE_VAL, .high = -HUGE_VAL};
    for (int i = 0; i < z->m->times.npulses; ++i) {
        k->whole[i] = between(z, k->run[0], k->run[1], i);
        if (width(&k->whole[i]) < HUGE_VAL) continue;
        k->whole[i] = none;
        z->looks = 0;
        by_parts(z, &k->whole[i], k->run[0], k->run[1], i, DEPTH);
        if (z->looks >= MOST) k->whole[i] = none;
    }
}

// A function whose values at five points fill a good part of its bounds has no short pulse: at least two of the three
// in the middle would be of one level.
static bool filled(search *z, carom_range all, double a, double b, int i) {
    static const double at[] = {0, 0.23, 0.5, 0.77, 1}, PART = 0.25;
    double x[5];
    for (int k = 0; k < 5; ++k) {
        const double t = a + at[k] * (b - a), y = between(z, t, t, i).mid;
        int to = k;
        for (; to > 0 && x[to - 1] > y; --to) x[to] = x[to - 1];
        x[to] = y;
    }
    return x[3] - x[1] >= PART * (all.high - all.low);
}

// (JT-2)  Function i is uneven between a and b where, of 16 parts, at least half are flat and one is not, or where half
//         of the values in the middle of parts differ by less than an eighth of what bounds allow; or where it changes
//         by more than that share.  Where bounds are infinite nothing is known, and it counts as uneven, down to a part
//         of the run.  *flat: the end of the parts before the first one that is not flat.
static bool uneven(search *z, const known *k, double share, double a, double b, int i, double *flat) {
    const carom_range *whole = &k->whole[i];
    const carom_range all = between(z, a, b, i);
    const double much = FLAT * width(whole);
    double value[PARTS], low = HUGE_VAL, high = -HUGE_VAL;
    int calm = 0;
    *flat = a;
    if (!(width(whole) >= 0) || !(all.high - all.low > much)) return false;
    if (!(width(&all) < HUGE_VAL)) return b - a > ldexp(k->run[1] - k->run[0], -DEPTH);
    const bool far = width(&all) > share * width(whole);
    if (!far && filled(z, all, a, b, i)) return false;
    for (int e = 0; e < PARTS; ++e) {
        const double from = a + (b - a) * e / PARTS, to = a + (b - a) * (e + 1) / PARTS,
                     half = from + 0.5 * (to - from);
        const carom_range x = between(z, from, to, i);
        if (!(x.high - x.low > much) && calm++ == e) *flat = to;
        low = fmin(low, x.low), high = fmax(high, x.high);
        int at = e;
        for (const double y = between(z, half, half, i).mid; ; --at) { // in order
            if (at > 0 && value[at - 1] > y) value[at] = value[at - 1];
            else { value[at] = y; break; }
        }
    }
    if (calm == PARTS || !(high - low > much)) return false;
    // half of the values within an eighth: flat, with a pulse
    return far || calm >= PARTS / 2 || value[3 * PARTS / 4 - 1] - value[PARTS / 4] < 0.125 * (high - low);
}

// (JT-5)  Along a line to within a fifth of what it rises by in a part, or flat: then the function is even on the part,
//         wherever that lies.
static bool straight(search *z, const known *k, double share, double a, double b, double part) {
    static const double LINE = 0.2; // (JT-5)
    over(z, a, b);
    for (int i = 0; i < z->m->times.npulses; ++i) {
        const carom_range *x = bounds(z, i);
        const double all = width(&k->whole[i]);
        const bool flat = !(width(x) > FLAT * all),
                   line = x->lined && x->off <= LINE * fabs(x->slope) * part && width(x) <= share * all;
        if (all >= 0 && !flat && !line) return false;
    }
    return true;
}

static const double SHORTER = 1e-6; // of a step: what later steps may be shorter by

// The same for times ahead, so that steps to come need not ask.
static bool known_even(search *z, known *k, double share, double t_0, double t_1) {
    const double h = t_1 - t_0;
    if (share >= k->share && t_0 >= k->from && t_1 <= k->to && h >= k->least) return true;
    const double before = t_0 - h, from = t_0 >= k->run[0] ? fmax(before, k->run[0]) : t_0, steps = fmax(k->steps, 1),
                 to = t_0 + steps * h;
    const bool good = straight(z, k, share, from, to, h / (to - from) * (1 - SHORTER));
    k->steps = good ? fmin(2 * steps, FARTHEST) : 0.5 * steps;
    if (!good) return false;
    k->share = share, k->from = from, k->to = to, k->least = h * (1 - SHORTER);
    return true;
}

double carom_model_even(const void *model, void *work, const double *run, double share, double t_0, double t_1) {
    const carom_model *m = model;
    search z = search_of(m, work);
    known *k = known_of(m, work);
    if (k->run[0] != run[0] || k->run[1] != run[1]) {
        *k = (known){.run = {run[0], run[1]},
                     .from = HUGE_VAL,
                     .steps = 4,
                     .calm = {k->calm[0], k->calm[1]},
                     .ahead = k->ahead,
                     .whole = k->whole};
        whole_run(&z, k);
    }
    if (known_even(&z, k, share, t_0, t_1)) return t_1;
    const double least = fmin(t_1, t_0 + ldexp(run[1] - run[0], -FINEST));
    double end = t_1, flat;
    for (int i = 0; i < m->times.npulses; ++i)
        while (end > least && uneven(&z, k, share, t_0, end, i, &flat))
            end = flat > t_0 ? flat : t_0 + 0.5 * (end - t_0);
    return fmax(end, least);
}
