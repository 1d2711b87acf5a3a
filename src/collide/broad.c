// broad.c: sweep and prune in strips: boxes of a strip, sorted along one axis, are compared with those of the same and
// the next strip that begin before they end.
#include "base/team.h"
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

// Strips across axis l, as wide as the widest box.  Boxes more than four times as wide as the mean are large, and do
// not count.
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
        static const double WIDER = 1 + 1e-9; // than the widest: boxes that overlap are at most one strip apart
        const double at = (box[i].low[l] - low) / (width * WIDER);
        box[i].strip = !(box[i].high[l] - box[i].low[l] <= width) ? LARGE : at < MOST ? (int)at : MOST;
    }
}

static bool before(const carom_bounds *a, const carom_bounds *b, int k) {
    return a->strip != b->strip ? a->strip < b->strip : a->low[k] < b->low[k];
}

/// Boxes that are sorted along axis k, in runs of `run` boxes, a power of two, that threads share.
typedef struct runs {
    carom_bounds *box, *room;
    int n, k, run;
} runs;

// Pairs of sorted rows of `width` boxes, from `start` to before `end`, become rows of twice that; equal boxes stay in
// their order.
static void merge(const carom_bounds *from, carom_bounds *to, int start, int end, int width, int k) {
    for (; start < end; start += 2 * width) {
        const int middle = start + width < end ? start + width : end,
                  stop = start + 2 * width < end ? start + 2 * width : end;
        int a = start, b = middle;
        for (int i = start; i < stop; ++i)
            to[i] = a < middle && (b == stop || !before(&from[b], &from[a], k)) ? from[a++] : from[b++];
    }
}

static void swap(carom_bounds **a, carom_bounds **b) {
    carom_bounds *c = *a;
    *a = *b, *b = c;
}

static void sort_runs(void *user, int part, int parts) {
    const runs *r = user;
    for (int start = part * r->run; start < r->n; start += parts * r->run) {
        carom_bounds *from = r->box, *to = r->room;
        const int end = start + r->run < r->n ? start + r->run : r->n;
        for (int width = 1; width < r->run; width *= 2, swap(&from, &to)) merge(from, to, start, end, width, r->k);
    }
}

// By strip, then by the lower side.
static void sort(carom_bounds *box, int n, carom_bounds *room, int k, carom_team *team) {
    runs r = {.box = box, .room = room, .n = n, .k = k, .run = 1};
    carom_bounds *from = box, *to = room;
    for (const int parts = team ? team->n : 1; r.run * parts < n; r.run *= 2) swap(&from, &to);
    carom_team_run(team, sort_runs, &r);
    for (int width = r.run; width < n; width *= 2, swap(&from, &to)) merge(from, to, 0, n, width, k);
    if (from != box) memcpy(box, from, (size_t)n * sizeof *box);
}

typedef struct search {
    carom_bounds *box;
    int n, large; // boxes; large ones, which come first
    int k, l, m;  // axes
    void (*found)(void *user, int part, int a, int b);
    void *user;
} search;

// Box i against those from j to before end, sorted, that begin before it ends.
static inline void sweep(const search *s, int part, int i, int j, int end) {
    const carom_bounds *box = s->box, *a = box + i;
    for (; j < end && box[j].low[s->k] <= a->high[s->k]; ++j)
        if (carom_bounds_overlap(a, box + j, s->m) && carom_bounds_overlap(a, box + j, s->l))
            s->found(s->user, part, a->id, box[j].id);
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
            if (carom_bounds_meet(box + i, box + j)) s->found(s->user, part, box[i].id, box[j].id);
    carom_broad_part(s->n, part, parts, &from, &to);
    int start = from > s->large ? from : s->large;
    if (start > s->large && start < s->n && box[start].strip == box[start - 1].strip)
        start = end_of_strip(box, s->n, start);
    for (int end; start < to; start = end) {
        end = end_of_strip(box, s->n, start);
        for (int i = start; i < end; ++i) sweep(s, part, i, i + 1, end);
        if (end < s->n && box[end].strip == box[start].strip + 1)
            sweep_both(s, part, start, end, end, end_of_strip(box, s->n, end));
    }
}

void carom_broad(carom_bounds *box, int n, carom_bounds *room, carom_team *team,
                 void (*found)(void *user, int part, int a, int b), void *user) {
    if (n < 2) return;
    double spread[3];
    spreads(box, n, spread);
    const int k = spread[1] > spread[0]   ? (spread[2] > spread[1] ? 2 : 1)
                  : spread[2] > spread[0] ? 2
                                          : 0,
              a = (k + 1) % 3, b = (k + 2) % 3;
    const bool second = spread[b] > spread[a];
    search s = {.box = box, .n = n, .k = k, .l = second ? b : a, .m = second ? a : b, .found = found, .user = user};
    lay_strips(box, n, s.l);
    sort(box, n, room, k, team);
    s.large = box[0].strip == LARGE ? end_of_strip(box, n, 0) : 0;
    carom_team_run(team, sweep_strips, &s);
}
