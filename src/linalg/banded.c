// banded.c: see banded.h.
//
// Rows 0 .. m-1 are eliminated downwards, rows n-1 .. m+b upwards; b rows in the middle are left, whose matrix is full
// and small.  Both sweeps see their rows in the same way: row i has couplings r[i][k], k = 1 .. b, to the k-th row
// before it in its sweep.  A factor is
//     top     (m + b) b       couplings of rows 0 .. m+b-1
//     bottom  (n - m) b       couplings of rows m .. n-1, in the upward sweep
//     pivot   n               1/D
//     middle  b b             L D L' of what is left: L below, 1/D on the diagonal
#include "linalg/banded.h"
#include "linalg/minus.h"

static const double TINY = 1e-14; // see factor.c

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

typedef struct parts {
    double *top, *bottom, *pivot, *middle;
    int m; // first of the b rows in the middle
} parts;

// chosen: a wider one saves little against dense
bool carom_band_suits(int n, int band) { return band >= 1 && band <= CAROM_BAND_MOST && n >= 8 * band; }

size_t carom_band_size(int n, int band) {
    return (size_t)(n + band) * (size_t)band + (size_t)n + (size_t)(band * band);
}

INLINE parts parts_of(const double *L, int n, int b) {
    parts p = {.m = (n - b) / 2};
    p.top = (double *)L;
    p.bottom = p.top + (size_t)(p.m + b) * (size_t)b;
    p.pivot = p.bottom + (size_t)(n - p.m) * (size_t)b;
    p.middle = p.pivot + n;
    return p;
}

// -- factorisation ----------------------------------------------------------------------------------------

// A sweep: row s of it is row `first + step s` of the matrix.
typedef struct sweep {
    const double *A;
    double *r, *pivot; // couplings of row s at r + s stride; inverse pivots by rows of the matrix
    long stride;
    int first, step, b;
} sweep;

// Entry (s, s - k) of the matrix as the sweep sees it, from the lower triangle.
static double entry(const sweep *w, int s, int k) {
    const int i = w->first + w->step * s, j = i - w->step * k, b = w->b;
    const int low = i > j ? i : j, high = i > j ? j : i;
    return w->A[(size_t)high * (size_t)(2 * b + 1) + (size_t)(b + low - high)];
}

// Couplings of row s to rows before `end`, and w_k = D L_sk.
static void couple(const sweep *w, int s, int end, double *scaled) {
    double *r = w->r + s * w->stride;
    for (int k = w->b; k >= 1; --k) {
        const int j = s - k;
        scaled[k - 1] = r[k - 1] = 0;
        if (j < 0 || j >= end) continue;
        const double *rj = w->r + j * w->stride;
        double a = entry(w, s, k);
        for (int p = k + 1; p <= w->b; ++p) a -= scaled[p - 1] * rj[p - k - 1]; // row s - p
        scaled[k - 1] = a;
        r[k - 1] = a * w->pivot[w->first + w->step * j];
    }
}

static bool eliminate(const sweep *w, int s) {
    double scaled[CAROM_BAND_MOST];
    const double *r = w->r + s * w->stride, diagonal = entry(w, s, 0);
    couple(w, s, s, scaled);
    double d = diagonal;
    for (int k = 1; k <= w->b; ++k) d -= scaled[k - 1] * r[k - 1];
    w->pivot[w->first + w->step * s] = 1 / d;
    return d > TINY * diagonal;
}

// S -= what the sweep leaves in its rows end .. end+b-1; S is b x b in the sweep's order when step > 0, else reversed.
static void leave(const sweep *w, int end, double *S) {
    const int b = w->b;
    double scaled[CAROM_BAND_MOST][CAROM_BAND_MOST];
    for (int i = 0; i < b; ++i) couple(w, end + i, end, scaled[i]);
    for (int i = 0; i < b; ++i)
        for (int j = 0; j <= i; ++j) {
            const double *rj = w->r + (end + j) * w->stride;
            double sum = 0;
            for (int k = i + 1; k <= b; ++k) sum += scaled[i][k - 1] * rj[k - (i - j) - 1]; // by way of row end + i - k
            const int p = w->step > 0 ? i : b - 1 - i, q = w->step > 0 ? j : b - 1 - j;
            S[(p > q ? p : q) + (p > q ? q : p) * b] -= sum;
        }
}

// The b x b matrix in the middle; returns b or the row that has no pivot.
static int middle_ldl(double *S, const double *diagonal, int b) {
    for (int j = 0; j < b; ++j) {
        const double d = S[j + j * b];
        if (!(d > TINY * diagonal[j])) return j;
        for (int k = j + 1; k < b; ++k)
            for (int i = k; i < b; ++i) S[i + k * b] -= S[i + j * b] * (S[k + j * b] / d);
        for (int i = j + 1; i < b; ++i) S[i + j * b] /= d;
        S[j + j * b] = 1 / d;
    }
    return b;
}

int carom_band_ldl(double *L, const double *A, int n, int b) {
    const parts p = parts_of(L, n, b);
    const sweep down = {A, p.top, p.pivot, b, 0, 1, b};
    const sweep up = {A, p.bottom + (size_t)(n - 1 - p.m) * (size_t)b, p.pivot, -(long)b, n - 1, -1, b};
    const int rows = n - b - p.m; // of the upward sweep
    for (int s = 0; s < p.m || s < rows; ++s) {
        if (s < p.m && !eliminate(&down, s)) return s;
        if (s < rows && !eliminate(&up, s)) return n - 1 - s;
    }
    double diagonal[CAROM_BAND_MOST];
    for (int i = 0; i < b; ++i) {
        for (int j = 0; j <= i; ++j) p.middle[i + j * b] = entry(&down, p.m + i, i - j);
        diagonal[i] = p.middle[i + i * b];
    }
    leave(&down, p.m, p.middle);
    leave(&up, rows, p.middle);
    const int bad = middle_ldl(p.middle, diagonal, b);
    return bad == b ? n : p.m + bad;
}

// -- solution ---------------------------------------------------------------------------------------------

// x_i - sum_k r_k y_k, the nearest row last: it is the one that is waited for.
INLINE double forward(double x, const double *r, const double *y, int b) {
    for (int k = b; k >= 1; --k) x = carom_minus(x, r[k - 1], y[k - 1]);
    return x;
}

// The same with the couplings of the rows after it: row k after this one has its coupling to it at r[k stride + k - 1].
INLINE double backward(double x, const double *r, long stride, const double *y, int b) {
    for (int k = b; k >= 1; --k) x = carom_minus(x, r[k * stride + k - 1], y[k - 1]);
    return x;
}

INLINE void push(double *y, double x, int b) {
    for (int k = b - 1; k >= 1; --k) y[k] = y[k - 1];
    y[0] = x;
}

static void solve_middle(const parts *p, double *x, int b) {
    double *z = x + p->m;
    for (int i = 0; i < b; ++i) {
        for (int k = i + 1; k <= b; ++k)
            z[i] = carom_minus(z[i], p->top[(size_t)(p->m + i) * (size_t)b + (size_t)(k - 1)], z[i - k]);
        for (int k = b - i; k <= b; ++k) z[i] = carom_minus(z[i], p->bottom[i * b + k - 1], z[i + k]);
    }
    for (int j = 0; j < b; ++j)
        for (int i = j + 1; i < b; ++i) z[i] -= p->middle[i + j * b] * z[j];
    for (int j = b - 1; j >= 0; --j) {
        z[j] *= p->middle[j + j * b];
        for (int i = j + 1; i < b; ++i) z[j] -= p->middle[i + j * b] * z[i];
    }
}

INLINE void sweep_in(const parts *p, double *x, int n, int b) {
    const int rows = n - b - p->m;
    const double *top = p->top, *bottom = p->bottom + (size_t)(n - 1 - p->m) * (size_t)b;
    double y[CAROM_BAND_MOST] = {0}, z[CAROM_BAND_MOST] = {0};
    for (int s = 0; s < p->m; ++s, top += b, bottom -= b) {
        const double a = x[s] = forward(x[s], top, y, b), c = x[n - 1 - s] = forward(x[n - 1 - s], bottom, z, b);
        push(y, a, b);
        push(z, c, b);
    }
    if (rows > p->m) x[n - 1 - p->m] = forward(x[n - 1 - p->m], bottom, z, b); // one more when n - b is odd
}

// v NULL: x = the answer; else v += h times it.
INLINE void sweep_out(const parts *p, double *x, double *v, double h, int n, int b) {
    const int rows = n - b - p->m;
    double y[CAROM_BAND_MOST], z[CAROM_BAND_MOST];
    for (int k = 0; k < b; ++k) {
        y[k] = x[p->m + k];
        z[k] = x[p->m + b - 1 - k];
        if (v) v[p->m + k] += h * y[k];
    }
    int low = p->m - 1, high = p->m + b;
    const double *top = p->top + low * (long)b, *bottom = p->bottom + b * (long)b;
    if (rows > p->m) {
        const double c = backward(x[high] * p->pivot[high], bottom, -b, z, b);
        if (v) v[high] += h * c;
        else x[high] = c;
        push(z, c, b);
        high += 1, bottom += b;
    }
    for (; low >= 0; --low, ++high, top -= b, bottom += b) {
        const double a = backward(x[low] * p->pivot[low], top, b, y, b),
                     c = backward(x[high] * p->pivot[high], bottom, -b, z, b);
        if (v) v[low] += h * a, v[high] += h * c;
        else x[low] = a, x[high] = c;
        push(y, a, b);
        push(z, c, b);
    }
}

INLINE void solve(const double *L, double *x, double *v, double h, int n, int b) {
    const parts p = parts_of(L, n, b);
    sweep_in(&p, x, n, b);
    solve_middle(&p, x, b);
    sweep_out(&p, x, v, h, n, b);
}

// A constant band keeps the couplings in registers: bars, plane beams, and beams in space have 1, 3, 5 and 11.
#define FOR_BAND(band, call)                                                                                           \
    switch (band) {                                                                                                    \
    case 1: call(1); break;                                                                                            \
    case 2: call(2); break;                                                                                            \
    case 3: call(3); break;                                                                                            \
    case 4: call(4); break;                                                                                            \
    case 5: call(5); break;                                                                                            \
    case 6: call(6); break;                                                                                            \
    case 7: call(7); break;                                                                                            \
    case 8: call(8); break;                                                                                            \
    case 11: call(11); break;                                                                                          \
    default: call(band);                                                                                               \
    }

void carom_band_solve(const double *L, double *x, int n, int band) {
#define SOLVE(b) solve(L, x, NULL, 0, n, b)
    FOR_BAND(band, SOLVE)
#undef SOLVE
}

void carom_band_advance(const double *L, double *v, double h, double *x, int n, int band) {
#define ADVANCE(b) solve(L, x, v, h, n, b)
    FOR_BAND(band, ADVANCE)
#undef ADVANCE
}
