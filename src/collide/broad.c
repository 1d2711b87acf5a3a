// broad.c: sweep and prune: boxes sorted along one axis are compared with those that begin before they end.
#include "collide/broad.h"
#include <string.h>

// The axis along which the centres differ most.
static int widest(const carom_bounds *box, int n) {
    double most = -1;
    int axis = 0;
    for (int k = 0; k < 3; ++k) {
        double sum = 0, square = 0;
        for (int i = 0; i < n; ++i) {
            const double x = 0.5 * (box[i].low[k] + box[i].high[k]) - box[0].low[k];
            sum += x, square += x * x;
        }
        const double spread = square - sum * sum / n;
        if (spread > most) most = spread, axis = k;
    }
    return axis;
}

// By the lower side; equal ones stay in their order.
static void sort(carom_bounds *box, int n, carom_bounds *room, int k) {
    carom_bounds *from = box, *to = room;
    for (int width = 1; width < n; width *= 2) {
        for (int start = 0; start < n; start += 2 * width) {
            const int middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n;
            int a = start, b = middle;
            for (int i = start; i < end; ++i) to[i] = a < middle && (b == end || !(from[b].low[k] < from[a].low[k])) ? from[a++] : from[b++];
        }
        carom_bounds *swap = from;
        from = to, to = swap;
    }
    if (from != box) memcpy(box, from, (size_t)n * sizeof *box);
}

void carom_broad(carom_bounds *box, int n, carom_bounds *room, void (*found)(void *user, int a, int b), void *user) {
    if (n < 2) return;
    const int k = widest(box, n), l = (k + 1) % 3, m = (k + 2) % 3;
    sort(box, n, room, k);
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n && box[j].low[k] <= box[i].high[k]; ++j)
            if (box[j].low[l] <= box[i].high[l] && box[i].low[l] <= box[j].high[l] && box[j].low[m] <= box[i].high[m] && box[i].low[m] <= box[j].high[m])
                found(user, box[i].id, box[j].id);
}
