// enumerate.c: all patterns of open, stick and slip, one after the other.
//
// Spec: docs/solvers.md, "enumerate".  Frictionless and planar contacts, few of them (2^a 4^b patterns).  Finds a
// solution whenever there is one that rounding lets it recognise, dependent contacts included.  The pattern of the
// start is tried first, so a warm problem costs one small system.
#include "base/tolerance.h"
#include "linalg/dense.h"
#include "solver/reduce.h"

typedef enum { OPEN, STICK, SLIP_FORWARD, SLIP_BACKWARD } state; // frictionless contacts: OPEN and STICK

static const double PIVOT = 1e-13; // of the entry of the same contact: what elimination leaves of dependent ones

enum { MOST = 6, ROWS = 2 * MOST }; // 4^6 = 4096 combinations of states

typedef struct {
    carom_reduced red;
} enumerate;

// The reduced problem with its contacts, on the stack: it is tiny.
typedef struct {
    int nc, n, ld;
    const double *S, *s;
    int at[MOST], states[MOST];  // first row; number of states
    double mu[MOST], dN[MOST], dT[MOST];
    double p[ROWS], u[ROWS];
    double A[ROWS * ROWS], b[ROWS], x[ROWS], scale[2 * ROWS];
    int row[ROWS], col[ROWS];
} patterns;

static double diagonal(const patterns *w, int i, double fallback) {
    const double d = w->S[i + i * w->ld];
    return d > 0 ? d : fallback;
}

static bool gather(patterns *w, const carom_problem *pb, const carom_reduced *r) {
    double largest = 0;
    w->nc = 0, w->n = r->n, w->ld = r->ld, w->S = r->S, w->s = r->s;
    if (r->n > ROWS) return false;
    for (int i = 0; i < w->n; i++) largest = fmax(largest, diagonal(w, i, 0));
    if (!(largest > 0)) largest = 1;
    for (int i = 0, k = 0; i < pb->nb; i++) {
        const carom_block *b = pb->block + i;
        const bool rubs = carom_has_friction(b);
        if (w->nc == MOST || (rubs && b->law >= CAROM_SPATIAL)) return false;
        w->at[w->nc] = k;
        w->mu[w->nc] = rubs ? b->mu : 0;
        w->states[w->nc] = rubs ? 4 : 2;
        w->dN[w->nc] = diagonal(w, k, largest);
        w->dT[w->nc] = rubs ? diagonal(w, k + 1, largest) : 0;
        w->nc++;
        k += rubs ? 2 : 1;
    }
    return true;
}

// Pattern that the start p is in.
static void recognise(const patterns *w, const carom_problem *pb, const carom_reduced *r, state *z) {
    for (int k = 0; k < w->nc; k++) {
        const double pN = pb->p[r->row[w->at[k]]];
        z[k] = pN > 0 ? STICK : OPEN;
        if (w->states[k] == 2 || !(pN > 0)) continue;
        const double pT = pb->p[r->row[w->at[k] + 1]], limit = w->mu[k] * pN * (1 - CAROM_SAME);
        z[k] = pT >= limit ? SLIP_BACKWARD : pT <= -limit ? SLIP_FORWARD : STICK;
    }
}

// An unknown of a pattern: row `row` of S, column S_:row + f S_:row+1 (slipping contacts carry p_T = f p_N along).
typedef struct {
    int row;
    double f;
} unknown;

static double entry(const patterns *w, int i, unknown c) {
    const double *g = w->S + i + c.row * w->ld;
    return c.f == 0 ? g[0] : g[0] + c.f * g[w->ld];
}

// (SOL-7)  The equations of a pattern; false: a system of up to two unknowns is singular.
static bool unknowns_solve(patterns *w, const unknown *c, int m) {
    if (m == 0) return true;
    if (m == 1) {
        const double a = entry(w, c[0].row, c[0]);
        if (!(fabs(a) > PIVOT * fabs(w->S[c[0].row * (w->ld + 1)]))) return false;
        w->x[0] = -w->s[c[0].row] / a;
        return true;
    }
    if (m == 2) {
        const int i = c[0].row, k = c[1].row;
        const double a = entry(w, i, c[0]), b = entry(w, i, c[1]), e = entry(w, k, c[0]), d = entry(w, k, c[1]);
        if (carom_dense_two(a, b, e, d, -w->s[i], -w->s[k], CAROM_SAME, w->x, w->x + 1)) return true;
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) w->A[i + j * m] = entry(w, c[i].row, c[j]);
    for (int i = 0; i < m; i++) w->b[i] = -w->s[c[i].row];
    const int rank = carom_dense_full(w->A, m, m, CAROM_SAME, w->row, w->col, w->scale);
    carom_dense_full_solve(w->A, m, m, rank, w->row, w->col, w->scale, w->b, w->x);
    return true;
}

static bool solve_pattern(patterns *w, const state *z) {
    unknown c[ROWS];
    int m = 0;
    for (int k = 0; k < w->nc; k++) {
        const int i = w->at[k];
        if (z[k] == OPEN) continue;
        c[m++] = (unknown){i, z[k] == SLIP_FORWARD ? -w->mu[k] : z[k] == SLIP_BACKWARD ? w->mu[k] : 0};
        if (z[k] == STICK && w->states[k] == 4) c[m++] = (unknown){i + 1, 0};
    }
    if (!unknowns_solve(w, c, m)) return false;
    for (int i = 0; i < w->n; i++) w->p[i] = 0;
    for (int j = 0; j < m; j++) {
        w->p[c[j].row] = w->x[j];
        if (c[j].f != 0) w->p[c[j].row + 1] = c[j].f * w->x[j];
    }
    for (int i = 0; i < w->n; i++) {
        double u = w->s[i];
        for (int j = 0; j < w->n; j++) u += w->S[i + j * w->ld] * w->p[j];
        w->u[i] = u;
    }
    return true;
}

// How much the solution of a pattern contradicts the pattern, in velocity units.
static double contradiction(const patterns *w, const state *z) {
    double e = 0;
    for (int k = 0; k < w->nc; k++) {
        const int i = w->at[k];
        if (z[k] == OPEN) {
            e = fmax(e, -w->u[i]);
            continue;
        }
        e = fmax(e, fmax(fabs(w->u[i]), -w->p[i] * w->dN[k]));
        if (w->states[k] == 2) continue;
        const double uT = w->u[i + 1];
        if (z[k] == STICK) e = fmax(e, fmax(fabs(uT), (fabs(w->p[i + 1]) - w->mu[k] * w->p[i]) * w->dT[k]));
        else e = fmax(e, z[k] == SLIP_FORWARD ? -uT : uT);
    }
    return e;
}

static bool next_pattern(const patterns *w, state *z) {
    for (int k = 0; k < w->nc; k++) {
        if (++z[k] < (state)w->states[k]) return true;
        z[k] = OPEN;
    }
    return false;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    enumerate *e = work;
    patterns w;
    state z[MOST] = {OPEN};
    carom_report report = {.converged = false};
    carom_reduce(&e->red, pb);
    if (!gather(&w, pb, &e->red)) return report;

    double best = INFINITY, kept[ROWS] = {0};
    recognise(&w, pb, &e->red, z);
    for (bool more = true, warm = true; more && best > CAROM_AIM * tol; report.iterations++) {
        const double wrong = solve_pattern(&w, z) ? contradiction(&w, z) : INFINITY;
        if (wrong < best) {
            best = wrong;
            for (int i = 0; i < w.n; i++) kept[i] = w.p[i];
        }
        if (warm) {
            for (int k = 0; k < w.nc; k++) z[k] = OPEN;
            warm = false;
        } else more = next_pattern(&w, z);
    }
    carom_reduced_expand(&e->red, pb, kept);
    report.converged = best <= tol;
    return report;
}

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    (void)nb;
    carom_allocate_reduced(&((enumerate *)work)->red, mem, n);
}

const carom_solver carom_solver_enumerate = {
    .name = "enumerate",
    .about = "all patterns of open, stick and slip; frictionless and planar, few contacts",
    .laws = 1u << CAROM_UNILATERAL | 1u << CAROM_PLANAR,
    .max_blocks = MOST,
    .max_rows = 600,
    .work_size = sizeof(enumerate),
    .allocate = allocate,
    .solve = solve,
};
