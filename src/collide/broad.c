// broad.c: sweep and prune in strips: boxes of a strip, sorted along one axis, are compared with those of the same and the next strip that begin before they end.
#include "collide/broad.h"
#include <carom/team.h>
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
    int n, large; // boxes; large ones, which come first
    int k, l, m;  // axes
    void (*found)(void *user, int part, int a, int b);
    void *user;
} search;

static inline bool overlap(const carom_bounds *a, const carom_bounds *b, int k) { return a->low[k] <= b->high[k] && b->low[k] <= a->high[k]; }

// Box i against those from j to before end, sorted, that begin before it ends.
static inline void sweep(const search *s, int part, int i, int j, int end) {
    const carom_bounds *box = s->box, *a = box + i;
    for (; j < end && box[j].low[s->k] <= a->high[s->k]; ++j)
        if (overlap(a, box + j, s->m) && overlap(a, box + j, s->l)) s->found(s->user, part, a->id, box[j].id);
}

// Boxes i to before i_end against j to before j_end, both sorted.
static void sweep_both(const search *s, int part, int i, int i_end, int j, int j_end) {
    while (i < i_end && j < j_end) {
        if (s->box[i].low[s->k] <= s->box[j].low[s->k]) sweep(s, part, i, j, j_end), ++i;
        else sweep(s, part, j, i, i_end), ++j;
    }
}

static int end_of_strip(const carom_bounds *box, int n, int i) {
    int end = i;
    while (end < n && box[end].strip == box[i].strip) ++end;
    return end;
}

// A thread's share: some large boxes, and the strips that begin in its part of the boxes.
static void sweep_strips(void *user, int part, int parts) {
    const search *s = user;
    const carom_bounds *box = s->box;
    int from, to;
    carom_broad_part(s->large, part, parts, &from, &to);
    for (int i = from; i < to; ++i)
        for (int j = i + 1; j < s->n; ++j)
            if (overlap(box + i, box + j, 0) && overlap(box + i, box + j, 1) && overlap(box + i, box + j, 2)) s->found(s->user, part, box[i].id, box[j].id);
    carom_broad_part(s->n, part, parts, &from, &to);
    int start = from > s->large ? from : s->large;
    if (start > s->large && start < s->n && box[start].strip == box[start - 1].strip) start = end_of_strip(box, s->n, start);
    for (int end; start < to; start = end) {
        end = end_of_strip(box, s->n, start);
        for (int i = start; i < end; ++i) sweep(s, part, i, i + 1, end);
        if (end < s->n && box[end].strip == box[start].strip + 1) sweep_both(s, part, start, end, end, end_of_strip(box, s->n, end));
    }
}

void carom_broad(carom_bounds *box, int n, carom_bounds *room, carom_team *team, void (*found)(void *user, int part, int a, int b), void *user) {
    if (n < 2) return;
    double spread[3];
    spreads(box, n, spread);
    const int k = spread[1] > spread[0] ? (spread[2] > spread[1] ? 2 : 1) : spread[2] > spread[0] ? 2 : 0, a = (k + 1) % 3, b = (k + 2) % 3;
    const bool swap = spread[b] > spread[a];
    search s = {.box = box, .n = n, .k = k, .l = swap ? b : a, .m = swap ? a : b, .found = found, .user = user};
    lay_strips(box, n, s.l);
    sort(box, n, room, k);
    s.large = box[0].strip == LARGE ? end_of_strip(box, n, 0) : 0;
    carom_team_run(team, sweep_strips, &s);
}
