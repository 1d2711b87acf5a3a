// order.c: approximate minimum degree.
//
// Source: P. R. Amestoy, T. A. Davis, I. S. Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905.  Elimination of row p
// joins its neighbours into a clique, which is kept as one element that lists them.  A row keeps a list of the elements
// it belongs to, and behind them of the rows that it still meets directly.  Its degree is bounded from above by the
// sizes of these.  Rows with the same lists are merged and eliminated together.
#include "linalg/order.h"
#include <stdbool.h>
#include <string.h>

enum { NONE = -1 }; // no row

typedef struct {
    int n;
    int *list;          // elements and rows of each row, rows of each element
    size_t used, room;
    int *at, *len;      // list of row or element i: list[at[i]] .. + len[i]
    int *elements;      // so many entries of a row's list are elements
    int *weight;        // rows merged into i; negative while i is in the element being formed; 0: i is merged or
                        // eliminated
    int *degree;        // bound of a row; weight of an element
    int *head;          // rows by degree, doubly linked
    int *next, *prev;
    int *stamp;         // elements: see measure(); 0: no longer there
    int *bucket, *hash; // rows of the new element by hash
    int *tail, *link;   // chain of rows merged into i
    int mark, least, left;
} quotient;

size_t carom_order_work(int n, size_t entries) { return entries + entries / 4 + 16 * (size_t)n + 16; }

static int *part(int **work, int n) {
    int *p = *work;
    *work += n;
    return p;
}

static void enlist(quotient *Q, int i) {
    const int d = Q->degree[i];
    Q->next[i] = Q->head[d];
    Q->prev[i] = NONE;
    if (Q->head[d] != NONE) Q->prev[Q->head[d]] = i;
    Q->head[d] = i;
    if (d < Q->least) Q->least = d;
}

static void unlist(quotient *Q, int i) {
    if (Q->next[i] != NONE) Q->prev[Q->next[i]] = Q->prev[i];
    if (Q->prev[i] != NONE) Q->next[Q->prev[i]] = Q->next[i];
    else Q->head[Q->degree[i]] = Q->next[i];
}

// Row j goes wherever row i goes.
static void merge(quotient *Q, int i, int j) {
    Q->link[Q->tail[i]] = j;
    Q->tail[i] = Q->tail[j];
    Q->weight[j] = 0;
}

// Lists without the gaps between them.  The first entry of each carries its owner meanwhile.
static void compress(quotient *Q) {
    size_t to = 0;
    for (int i = 0; i < Q->n; i++) {
        if (Q->len[i] == 0) continue;
        const int first = Q->list[Q->at[i]];
        Q->list[Q->at[i]] = -2 - i;
        Q->at[i] = first;
    }
    for (size_t from = 0; from < Q->used;) {
        if (Q->list[from] >= 0) {
            from++;
            continue;
        }
        const int owner = -2 - Q->list[from], first = Q->at[owner];
        Q->at[owner] = (int)to;
        Q->list[to++] = first;
        for (int k = 1; k < Q->len[owner]; k++) Q->list[to++] = Q->list[from + (size_t)k];
        from += (size_t)Q->len[owner];
    }
    Q->used = to;
}

static void collect(quotient *Q, int from, int count, size_t *end, int *size) {
    for (int k = from; k < from + count; k++) {
        const int i = Q->list[k], w = Q->weight[i];
        if (w <= 0) continue;
        Q->weight[i] = -w;
        *size += w;
        Q->list[(*end)++] = i;
        unlist(Q, i);
    }
}

// The element of row p: all rows that p meets, directly or in an element, which this one replaces.
static void form(quotient *Q, int p) {
    if (Q->used + (size_t)Q->degree[p] + 1 > Q->room) compress(Q);
    const size_t begin = Q->used;
    size_t end = begin;
    int size = 0;
    Q->weight[p] = -Q->weight[p];
    for (int k = Q->at[p]; k < Q->at[p] + Q->elements[p]; k++) {
        const int e = Q->list[k];
        collect(Q, Q->at[e], Q->len[e], &end, &size);
        Q->stamp[e] = Q->len[e] = 0;
    }
    collect(Q, Q->at[p] + Q->elements[p], Q->len[p] - Q->elements[p], &end, &size);
    Q->used = end;
    Q->at[p] = (int)begin;
    Q->len[p] = (int)(end - begin);
    Q->degree[p] = size;
}

// stamp[e] - mark: weight of element e outside the element p, for all e that meet it.
static void measure(quotient *Q, int p) {
    for (int k = Q->at[p]; k < Q->at[p] + Q->len[p]; k++) {
        const int i = Q->list[k], w = -Q->weight[i];
        for (int m = Q->at[i]; m < Q->at[i] + Q->elements[i]; m++) {
            const int e = Q->list[m];
            if (Q->stamp[e] >= Q->mark) Q->stamp[e] -= w;
            else if (Q->stamp[e] != 0) Q->stamp[e] = Q->degree[e] + Q->mark - w;
        }
    }
}

// New list and degree of row i of element p; elements inside p vanish.  False: i meets nothing but p.
static bool update(quotient *Q, int p, int i) {
    const int at = Q->at[i], rows = at + Q->elements[i], end = at + Q->len[i];
    int to = at, outside = 0;
    unsigned h = 0;
    for (int k = at; k < rows; k++) {
        const int e = Q->list[k];
        if (Q->stamp[e] == 0) continue;
        const int more = Q->stamp[e] - Q->mark;
        if (more <= 0) {
            Q->stamp[e] = Q->len[e] = 0;
            continue;
        }
        outside += more;
        h += (unsigned)e;
        Q->list[to++] = e;
    }
    Q->elements[i] = to - at;
    for (int k = rows; k < end; k++) {
        const int j = Q->list[k];
        if (Q->weight[j] <= 0) continue; // eliminated, merged or in p
        outside += Q->weight[j];
        h += (unsigned)j;
        Q->list[to++] = j;
    }
    if (outside == 0) return false;
    // p becomes the first element; at least one entry has gone, p or what led to it.
    const int first = at + Q->elements[i];
    if (to > first) Q->list[to] = Q->list[first];
    Q->list[first] = Q->list[at];
    Q->list[at] = p;
    Q->elements[i]++;
    Q->len[i] = to - at + 1;
    if (outside < Q->degree[i]) Q->degree[i] = outside;
    Q->hash[i] = (int)(h % (unsigned)Q->n);
    return true;
}

static void update_all(quotient *Q, int p) {
    for (int k = Q->at[p]; k < Q->at[p] + Q->len[p]; k++) {
        const int i = Q->list[k];
        if (update(Q, p, i)) {
            Q->next[i] = Q->bucket[Q->hash[i]];
            Q->bucket[Q->hash[i]] = i;
            continue;
        }
        const int w = -Q->weight[i]; // eliminated with p
        Q->weight[p] -= w;
        Q->degree[p] -= w;
        Q->left -= w;
        merge(Q, p, i);
        Q->len[i] = 0;
    }
}

// Rows of p with the same lists are merged.
static void merge_alike(quotient *Q, int p) {
    for (int k = Q->at[p]; k < Q->at[p] + Q->len[p]; k++) {
        if (Q->weight[Q->list[k]] == 0) continue;
        int *bucket = Q->bucket + Q->hash[Q->list[k]];
        for (int i = *bucket; i != NONE && Q->next[i] != NONE; i = Q->next[i]) {
            Q->mark++;
            for (int m = Q->at[i] + 1; m < Q->at[i] + Q->len[i]; m++) Q->stamp[Q->list[m]] = Q->mark;
            for (int j = Q->next[i], last = i; j != NONE; j = Q->next[j]) {
                bool same = Q->len[j] == Q->len[i] && Q->elements[j] == Q->elements[i];
                for (int m = Q->at[j] + 1; same && m < Q->at[j] + Q->len[j]; m++)
                    same = Q->stamp[Q->list[m]] == Q->mark;
                if (!same) {
                    last = j;
                    continue;
                }
                Q->weight[i] += Q->weight[j];
                merge(Q, i, j);
                Q->len[j] = 0;
                Q->next[last] = Q->next[j];
            }
        }
        *bucket = NONE;
    }
}

// Rows of p that are left go back into the lists of degrees.
static void enlist_all(quotient *Q, int p) {
    int to = Q->at[p];
    for (int k = Q->at[p]; k < Q->at[p] + Q->len[p]; k++) {
        const int i = Q->list[k], w = -Q->weight[i];
        if (w <= 0) continue;
        Q->weight[i] = w;
        const int bound = Q->degree[i] + Q->degree[p] - w, most = Q->left - w;
        Q->degree[i] = bound < most ? bound : most;
        enlist(Q, i);
        Q->list[to++] = i;
    }
    Q->len[p] = to - Q->at[p];
    Q->used = (size_t)to;
    Q->weight[p] = 0;
    Q->stamp[p] = Q->len[p] > 0 ? 1 : 0;
}

static void begin(quotient *Q, int n, const int *start, const int *adj, int *work) {
    int **parts[] = {&Q->at,   &Q->len,   &Q->elements, &Q->weight, &Q->degree, &Q->head, &Q->next,
                     &Q->prev, &Q->stamp, &Q->bucket,   &Q->hash,   &Q->tail,   &Q->link};
    const size_t entries = (size_t)start[n];
    *Q = (quotient){.n = n, .mark = 2, .least = n, .left = n};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = part(&work, n);
    Q->list = work;
    Q->used = entries;
    Q->room = entries + entries / 4 + 2 * (size_t)n;
    if (entries > 0) memcpy(Q->list, adj, entries * sizeof *adj);
    for (int i = 0; i < n; i++) Q->head[i] = Q->bucket[i] = Q->link[i] = NONE;
    for (int i = n - 1; i >= 0; i--) {
        Q->at[i] = start[i];
        Q->len[i] = Q->degree[i] = start[i + 1] - start[i];
        Q->elements[i] = 0;
        Q->weight[i] = Q->stamp[i] = 1;
        Q->tail[i] = i;
        enlist(Q, i);
    }
}

void carom_order(int n, const int *start, const int *adj, int *perm, int *work) {
    quotient Q;
    begin(&Q, n, start, adj, work);
    for (int k = 0; Q.left > 0;) {
        while (Q.head[Q.least] == NONE) Q.least++;
        const int p = Q.head[Q.least];
        unlist(&Q, p);
        Q.left -= Q.weight[p];
        form(&Q, p);
        measure(&Q, p);
        update_all(&Q, p);
        Q.mark += n + 1;
        if (Q.mark > 0x3fffffff) {
            for (int i = 0; i < n; i++)
                if (Q.stamp[i] != 0) Q.stamp[i] = 1;
            Q.mark = 2;
        }
        merge_alike(&Q, p);
        enlist_all(&Q, p);
        Q.mark += n + 1; // above all stamps of merge_alike()
        for (int i = p; i != NONE; i = Q.link[i]) perm[k++] = i;
    }
}
