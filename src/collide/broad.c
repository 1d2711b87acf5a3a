// broad.c: sweep and prune in strips: boxes of a strip, sorted along one axis, are compared with those of the same and the next strip that begin before they end.
#include "collide/broad.h"
#include <string.h>

enum { LARGE = -1 }; // strip of boxes that are wider than the others: they are compared with all

// How much the centres differ along each axis.
static void spreads(const carom_bounds *box, int n, double *spread) {
    for (int k = 0; k < 3; ++k) {
        double sum = 0, square = 0;
        for (int i = 0; i < n; ++i) {
            const double x = 0.5 * (box[i].low[k] + box[i].high[k]) - box[0].low[k];
            sum += x, square += x * x;
        }
        spread[k] = square - sum * sum / n;
    }
}

// Strips across axis l, as wide as the widest box.  Boxes more than four times as wide as the mean are large, and do not count.
static void lay_strips(carom_bounds *box, int n, int l) {
    static const int MOST = 1000000;
    double mean = 0, width = 0, low = box[0].low[l];
    for (int i = 0; i < n; ++i) mean += (box[i].high[l] - box[i].low[l]) / n;
    for (int i = 0; i < n; ++i) {
        const double own = box[i].high[l] - box[i].low[l];
        if (own <= 4 * mean && own > width) width = own;
        if (box[i].low[l] < low) low = box[i].low[l];
    }
    for (int i = 0; i < n; ++i) {
        const double at = (box[i].low[l] - low) / (width * (1 + 1e-9)); // boxes that overlap are at most one apart
        box[i].strip = !(box[i].high[l] - box[i].low[l] <= width) ? LARGE : at < MOST ? (int)at : MOST;
    }
}

static bool before(const carom_bounds *a, const carom_bounds *b, int k) { return a->strip != b->strip ? a->strip < b->strip : a->low[k] < b->low[k]; }

// By strip, then by the lower side; equal ones stay in their order.
static void sort(carom_bounds *box, int n, carom_bounds *room, int k) {
    carom_bounds *from = box, *to = room;
    for (int width = 1; width < n; width *= 2) {
        for (int start = 0; start < n; start += 2 * width) {
            const int middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n;
            int a = start, b = middle;
            for (int i = start; i < end; ++i) to[i] = a < middle && (b == end || !before(&from[b], &from[a], k)) ? from[a++] : from[b++];
        }
        carom_bounds *swap = from;
        from = to, to = swap;
    }
    if (from != box) memcpy(box, from, (size_t)n * sizeof *box);
}

typedef struct search {
    carom_bounds *box;
    int k, l, m; // axes
    void (*found)(void *user, int a, int b);
    void *user;
} search;

static inline bool overlap(const carom_bounds *a, const carom_bounds *b, int k) { return a->low[k] <= b->high[k] && b->low[k] <= a->high[k]; }

// Box i against those from j to before end, sorted, that begin before it ends.
static inline void sweep(const search *s, int i, int j, int end) {
    const carom_bounds *box = s->box, *a = box + i;
    for (; j < end && box[j].low[s->k] <= a->high[s->k]; ++j)
        if (overlap(a, box + j, s->m) && overlap(a, box + j, s->l)) s->found(s->user, a->id, box[j].id);
}

// Boxes i to before i_end against j to before j_end, both sorted.
static void sweep_both(const search *s, int i, int i_end, int j, int j_end) {
    while (i < i_end && j < j_end) {
        if (s->box[i].low[s->k] <= s->box[j].low[s->k]) sweep(s, i, j, j_end), ++i;
        else sweep(s, j, i, i_end), ++j;
    }
}

static int end_of_strip(const carom_bounds *box, int n, int i) {
    int end = i;
    while (end < n && box[end].strip == box[i].strip) ++end;
    return end;
}

void carom_broad(carom_bounds *box, int n, carom_bounds *room, void (*found)(void *user, int a, int b), void *user) {
    if (n < 2) return;
    double spread[3];
    spreads(box, n, spread);
    const int k = spread[1] > spread[0] ? (spread[2] > spread[1] ? 2 : 1) : spread[2] > spread[0] ? 2 : 0, a = (k + 1) % 3, b = (k + 2) % 3;
    const search s = {box, k, spread[b] > spread[a] ? b : a, spread[b] > spread[a] ? a : b, found, user};
    lay_strips(box, n, s.l);
    sort(box, n, room, k);
    const int large = box[0].strip == LARGE ? end_of_strip(box, n, 0) : 0;
    for (int i = 0; i < large; ++i)
        for (int j = i + 1; j < n; ++j)
            if (overlap(box + i, box + j, 0) && overlap(box + i, box + j, 1) && overlap(box + i, box + j, 2)) found(user, box[i].id, box[j].id);
    for (int start = large, end; start < n; start = end) {
        end = end_of_strip(box, n, start);
        for (int i = start; i < end; ++i) sweep(&s, i, i + 1, end);
        if (end < n && box[end].strip == box[start].strip + 1) sweep_both(&s, start, end, end, end_of_strip(box, n, end));
    }
}
