// lemke.c: Lemke's complementary pivoting for contacts without friction.
//
// Spec: docs/solvers.md, "lemke".  Source: R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem,
// SIAM 2009, section 4.4.  Dictionary form; ties of the ratio test are broken lexicographically, so it ends for every
// positive semi-definite G: with a solution, or on a ray that proves there is none.  About as many pivots as there are
// contacts that close, each n^2 multiply-adds.
#include "solver/reduce.h"

static const double NO_MASS = 1e-14; // of the largest diagonal entry of S: a row below is one that nothing can move
static const double FLAT = 1e-11;    // of the steepest entry of a column: what n pivots leave of a zero
static const double RATIO = 1e-13;   // ratios that differ by less are tied, relative
static const double SPEED = 1e-14;   // and so are those whose velocities differ by this part of the largest one
static const double TIED = 1e-12;    // the same in the order that breaks ties: entries of an inverse

typedef struct {
    carom_reduced red;
    double *T;            // dictionary, row-major   n x (n + 2)
    double *z;            // n
    double *d, *r, *kept; // scales, residual, z before refinement   n
    int *basic, *column;  // variable of each row, of each column: w_i is i, z_i is n + i, z_0 is 2 n
    int *place;           // of each variable: its column, or -1 - row
    int *tied;
    double weak;          // tied pivots below this part of the strongest are left out
} lemke;

enum { Z0 = 0, Q = 1, FIRST = 2 }; // columns: z_0 at the start, the constant, then z_1 .. z_n at the start

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    lemke *w = work;
    const size_t m = (size_t)n;
    (void)nb;
    carom_allocate_reduced(&w->red, mem, n);
    w->T = carom_allocate(mem, m * (m + 2));
    CAROM_ALLOCATE(mem, m, &w->z, &w->d, &w->r, &w->kept);
    w->basic = carom_allocate_ints(mem, m);
    w->column = carom_allocate_ints(mem, m + 2);
    w->place = carom_allocate_ints(mem, 2 * m + 1);
    w->tied = carom_allocate_ints(mem, m);
}

// (SOL-8)  w = s + S D^-1 (D z) + 1 z_0, D = diag S: all entries of S D^-1 are pure numbers.  s is raised by up to
//          `spread` times its size,
// differently in each row, so that there are no ties.
static bool start(lemke *w, double spread) {
    const int n = w->red.n, ld = n + 2;
    bool closed = false;
    double largest = 0, size = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, w->red.S[i + (size_t)i * w->red.ld]);
    for (int i = 0; i < n; i++) {
        const double d = w->red.S[i + (size_t)i * w->red.ld];
        w->d[i] = d > NO_MASS * largest ? d : largest > 0 ? largest : 1;
        closed = closed || w->red.s[i] < 0;
        size = fmax(size, fabs(w->red.s[i]));
    }
    if (!closed) return false;
    for (int j = 0; j < n; j++) {
        const double *S = w->red.S + (size_t)j * w->red.ld, scale = 1 / w->d[j];
        for (int i = 0; i < n; i++) w->T[(size_t)i * ld + FIRST + j] = S[i] * scale;
    }
    for (int i = 0; i < n; i++) {
        w->T[(size_t)i * ld + Z0] = 1;
        // the golden section: no two parts are near each other
        w->T[(size_t)i * ld + Q] = w->red.s[i] + spread * size * (1 + fmod(0.6180339887498949 * (i + 1), 1));
        w->basic[i] = i;
        w->place[i] = -1 - i;
        w->column[FIRST + i] = n + i;
        w->place[n + i] = FIRST + i;
    }
    w->column[Z0] = 2 * n;
    w->place[2 * n] = Z0;
    return true;
}

// Row r is solved for the variable of column e, which replaces it everywhere.
static void exchange(lemke *w, int r, int e) {
    const int n = w->red.n, ld = n + 2;
    double *restrict y = w->T + (size_t)r * ld;
    const double inverse = 1 / y[e];
    y[e] = -1;
    for (int j = 0; j < ld; j++) y[j] *= -inverse;
    for (int i = 0; i < n; i++) {
        double *restrict x = w->T + (size_t)i * ld;
        const double a = x[e];
        if (i == r || a == 0) continue;
        x[e] = 0;
        for (int j = 0; j < ld; j++) x[j] += a * y[j];
    }
    const int leaving = w->basic[r], entering = w->column[e];
    w->basic[r] = entering;
    w->column[e] = leaving;
    w->place[entering] = -1 - r;
    w->place[leaving] = e;
}

// (SOL-9)  Entry k of row i of the inverse basis: w_k's column with the sign turned, or a unit vector.
static double inverse_entry(const lemke *w, int i, int k) {
    const int at = w->place[k];
    return at >= 0 ? -w->T[(size_t)i * (w->red.n + 2) + at] : -1 - at == i ? 1 : 0;
}

// Among the tied rows the one that is lexicographically smallest after division by its pivot.
static int untie(const lemke *w, int ties, int e) {
    const int n = w->red.n, ld = n + 2;
    for (int k = 0; k < n && ties > 1; k++) {
        double least = INFINITY;
        for (int t = 0; t < ties; t++) {
            const int i = w->tied[t];
            least = fmin(least, inverse_entry(w, i, k) / -w->T[(size_t)i * ld + e]);
        }
        int kept = 0;
        for (int t = 0; t < ties; t++) {
            const int i = w->tied[t];
            const double x = inverse_entry(w, i, k) / -w->T[(size_t)i * ld + e];
            if (x <= least + TIED * (1 + fabs(least))) w->tied[kept++] = i;
        }
        ties = kept;
    }
    return w->tied[0];
}

// Tied rows with a pivot that is weak against the strongest are left out: dividing by it would spoil the dictionary (on
// jammed piles of 100 contacts every third run ended on a false ray).  It may also break the order that forbids cycles:
// see solve().
static int drop_weak(const lemke *w, int ties, int e) {
    const int ld = w->red.n + 2;
    double strongest = 0;
    int kept = 0;
    for (int t = 0; t < ties; t++) strongest = fmax(strongest, -w->T[(size_t)w->tied[t] * ld + e]);
    for (int t = 0; t < ties; t++)
        if (-w->T[(size_t)w->tied[t] * ld + e] >= w->weak * strongest) w->tied[kept++] = w->tied[t];
    return kept;
}

// The row that blocks column e first; -1: none does.  z_0 leaves whenever it may.
static int ratio_test(const lemke *w, int e, double size) {
    const int n = w->red.n, ld = n + 2;
    double least = INFINITY, steepest = 0;
    for (int i = 0; i < n; i++) steepest = fmax(steepest, fabs(w->T[(size_t)i * ld + e]));
    const double flat = -FLAT * steepest;
    for (int i = 0; i < n; i++) {
        const double *x = w->T + (size_t)i * ld;
        if (x[e] < flat) least = fmin(least, fmax(x[Q], 0) / -x[e]);
    }
    if (!(least < INFINITY)) return -1;
    int ties = 0;
    for (int i = 0; i < n; i++) {
        const double *x = w->T + (size_t)i * ld;
        // Equal to rounding: in the ratio itself and in the velocity that it stands for.
        if (!(x[e] < flat) || fmax(x[Q], 0) > least * -x[e] * (1 + RATIO) + SPEED * size) continue;
        if (w->basic[i] == 2 * n) return i;
        w->tied[ties++] = i;
    }
    return ties > 1 ? untie(w, drop_weak(w, ties, e), e) : w->tied[0];
}

// How far w is from vanishing where z is basic; w goes to r.
static double miss(lemke *w) {
    const int n = w->red.n;
    double off = 0;
    for (int i = 0; i < n; i++) w->r[i] = w->red.s[i];
    for (int j = 0; j < n; j++) {
        const double *S = w->red.S + (size_t)j * w->red.ld;
        if (w->z[j] != 0)
            for (int i = 0; i < n; i++) w->r[i] += S[i] * w->z[j];
    }
    for (int j = 0; j < n; j++)
        if (w->place[j] >= 0) off = fmax(off, fabs(w->r[j]));
    return off;
}

// Errors of many exchanges are taken out with the inverse that the dictionary holds, as long as that helps.
static void refine(lemke *w, double target) {
    const int n = w->red.n, ld = n + 2;
    double off = miss(w);
    for (int pass = 0; pass < 5 && off > target; pass++) {
        for (int i = 0; i < n; i++) w->kept[i] = w->z[i];
        for (int i = 0; i < n; i++) {
            const int k = w->basic[i] - n;
            if (k < 0 || k >= n) continue;
            double x = 0;
            for (int j = 0; j < n; j++)
                if (w->place[j] >= 0) x += w->T[(size_t)i * ld + w->place[j]] * w->r[j]; // dz/dw; w must fall by r
            w->z[k] -= x / w->d[k];
        }
        const double now = miss(w);
        if (!(now < off)) {
            for (int i = 0; i < n; i++) w->z[i] = w->kept[i];
            return;
        }
        off = now;
    }
}

// Exchanges until z_0 has left; false: a ray, or too many.
static bool pivot(lemke *w, int *iterations) {
    const int n = w->red.n, ld = n + 2, most = 100 + 20 * n;
    int r = 0, e = Z0;
    for (int i = 1; i < n; i++)
        // the last of equals is the lexicographically smallest
        if (w->T[(size_t)i * ld + Q] <= w->T[(size_t)r * ld + Q]) r = i;
    const double size = fabs(w->T[(size_t)r * ld + Q]);
    for (int k = 0; k < most && r >= 0; k++) {
        const int leaving = w->basic[r];
        ++*iterations;
        exchange(w, r, e);
        if (leaving == 2 * n) break;
        e = w->place[leaving < n ? leaving + n : leaving - n]; // the complement enters
        r = ratio_test(w, e, size);
    }
    return w->place[2 * n] >= 0;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    // Where avoiding weak pivots ends on a ray or in a cycle, ties are removed instead.
    static const struct { double weak, spread; } attempts[] = {{0.01, 0}, {1e-6, 1e-7}};
    enum { COUNT = sizeof attempts / sizeof *attempts };
    lemke *w = work;
    carom_report report = {.converged = true};
    carom_reduce(&w->red, pb);
    const int n = w->red.n, ld = n + 2;
    for (int i = 0; i < n; i++) w->z[i] = 0;
    for (int k = 0; k < COUNT && n > 0 && start(w, attempts[k].spread); k++) {
        w->weak = attempts[k].weak;
        report.converged = pivot(w, &report.iterations);
        if (!report.converged && k + 1 < COUNT) continue;
        for (int i = 0; i < n; i++) {
            const int j = w->basic[i] - n;
            if (j >= 0 && j < n) w->z[j] = fmax(w->T[(size_t)i * ld + Q], 0) / w->d[j];
        }
        if (report.converged) refine(w, 0.1 * tol); // to spare: expanding rounds again
        break;
    }
    carom_reduced_expand(&w->red, pb, w->z);
    return report;
}

const carom_solver carom_solver_lemke = {
    .name = "lemke",
    .about = "complementary pivoting; no friction",
    .laws = 1u << CAROM_UNILATERAL,
    .max_blocks = 1000,
    .max_rows = 1000,
    .work_size = sizeof(lemke),
    .allocate = allocate,
    .solve = solve,
};
