// times.c: the times at which expressions jump or have a kink, whatever the state is.
//
// Switches are functions of time that keep their values between these times (carom_graph_switches).  Bounds over an interval tell whether one may change there; where
// they leave it open, the interval is halved.  So no change is overlooked, however short what lies between two of them.
#include "model/model.h"
#include <float.h>
#include <math.h>

// Looks down to rounding.  After that, what is taken for an instant doubles with every hundred: bounds of switches that nearly change are open nearly everywhere.
enum { MOST = 20000, MORE = 100 };

typedef struct search {
    const carom_model *m;
    void *work;     // of the tape
    carom_range *x;
    double scale;   // of times near 0
    int looks;
} search;

size_t carom_times_work(carom_model *m, size_t from) {
    const size_t line = 63;
    m->times_work = (from + line) & ~line;
    m->times_ranges = m->times_work + ((carom_tape_work_size(m->times_tape) + line) & ~line);
    return m->times_ranges + (size_t)carom_tape_range_size(m->times_tape) * sizeof(carom_range);
}

void carom_times_work_init(const carom_model *m, void *work, const double *given) {
    if (m->times_tape) carom_tape_work_init(m->times_tape, (unsigned char *)work + m->times_work, given);
}

void carom_times_parameters(const carom_model *m, void *work, const double *given) {
    if (m->times_tape) carom_tape_work_parameters(m->times_tape, (unsigned char *)work + m->times_work, given);
}

// Does every switch keep its value from a to b?
static bool steady(search *z, double a, double b) {
    const int *place = carom_tape_places(z->m->times_tape, 0);
    z->x[0] = carom_range_along(a, b, 0);
    carom_tape_range(z->m->times_tape, z->m->times_part[0], z->work, z->x);
    for (int i = 0; i < z->m->nswitches; ++i)
        if (!(z->x[place[i]].low == z->x[place[i]].high)) return false;
    return true;
}

static bool differ(search *z, double a, double b) {
    const carom_tape *tape = z->m->times_tape;
    carom_values x = carom_tape_values(tape, z->work, 0, a, NULL, NULL);
    for (int i = 0; i < z->m->nswitches; ++i) z->x[i].low = x.slot[x.place[i]];
    x = carom_tape_values(tape, z->work, 0, b, NULL, NULL);
    for (int i = 0; i < z->m->nswitches; ++i)
        if (x.slot[x.place[i]] != z->x[i].low) return true;
    return false;
}

// Bounds are rounded: an interval at whose ends switches differ is never taken for steady.
static double first(search *z, double a, double b) {
    const double half = a + 0.5 * (b - a), least = 2 * DBL_EPSILON * fmax(fmax(fabs(a), fabs(b)), z->scale), coarse = ++z->looks > MOST ? ldexp(least, (z->looks - MOST) / MORE) : least;
    const bool change = differ(z, a, b);
    if (!change && (!(b - a > coarse) || steady(z, a, b))) return HUGE_VAL;
    if (!(b - a > least && half > a && half < b)) return b;
    const double x = first(z, a, half);
    return x < HUGE_VAL ? x : first(z, half, b);
}

double carom_model_jump(const void *model, void *work, double t_0, double t_1) {
    const carom_model *m = model;
    search z = {.m = m, .work = (unsigned char *)work + m->times_work, .x = (carom_range *)(void *)((unsigned char *)work + m->times_ranges), .scale = 1e-3 * (t_1 - t_0)};
    return t_1 > t_0 ? first(&z, t_0, t_1) : HUGE_VAL;
}

// -- pulses ----------------------------------------------------------------------------------------------------------

enum { PARTS = 16 };
static const double FLAT = 1e-6; // of what the function does in the run

// What pulse i is between a and b; the bounds of all are in z->x.
static carom_range between(search *z, double a, double b, int i) {
    z->x[0] = carom_range_along(a, b, 0);
    carom_tape_range(z->m->times_tape, z->m->times_part[1], z->work, z->x);
    return z->x[carom_tape_places(z->m->times_tape, 1)[i]];
}

// A function whose values at five points fill a good part of its bounds has no short pulse: at least two of the three in the middle would be of one level.
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

// (JT-2)  Function i is uneven between a and b where, of 16 parts, at least half are flat and one is not, or where half of the values in the middle of parts differ by less than
//         an eighth of what bounds allow; or where it changes by more than that share.  *flat: the end of the parts before the first one that is not flat.
static bool uneven(search *z, const double *run, double share, double a, double b, int i, double *flat) {
    const carom_range all = between(z, a, b, i), whole = between(z, run[0], run[1], i);
    const double much = FLAT * (whole.high - whole.low);
    double value[PARTS], low = HUGE_VAL, high = -HUGE_VAL;
    int calm = 0;
    *flat = a;
    if (!(whole.high - whole.low < HUGE_VAL) || !(all.high - all.low > much)) return false;
    const bool far = all.high - all.low > share * (whole.high - whole.low);
    if (!far && filled(z, all, a, b, i)) return false;
    for (int k = 0; k < PARTS; ++k) {
        const double from = a + (b - a) * k / PARTS, to = a + (b - a) * (k + 1) / PARTS, half = from + 0.5 * (to - from);
        const carom_range x = between(z, from, to, i);
        if (!(x.high - x.low > much) && calm++ == k) *flat = to;
        low = fmin(low, x.low), high = fmax(high, x.high);
        int at = k;
        for (const double y = between(z, half, half, i).mid; ; --at) { // in order
            if (at > 0 && value[at - 1] > y) value[at] = value[at - 1];
            else { value[at] = y; break; }
        }
    }
    if (calm == PARTS || !(high - low > much)) return false;
    return far || calm >= PARTS / 2 || value[3 * PARTS / 4 - 1] - value[PARTS / 4] < 0.125 * (high - low);
}

double carom_model_even(const void *model, void *work, const double *run, double share, double t_0, double t_1) {
    enum { HALVINGS = 40 };
    const carom_model *m = model;
    search z = {.m = m, .work = (unsigned char *)work + m->times_work, .x = (carom_range *)(void *)((unsigned char *)work + m->times_ranges)};
    double end = t_1, flat;
    for (int i = 0; i < m->npulses; ++i)
        for (int k = 0; k < HALVINGS && uneven(&z, run, share, t_0, end, i, &flat); ++k) end = flat > t_0 ? flat : t_0 + 0.5 * (end - t_0);
    return end;
}
