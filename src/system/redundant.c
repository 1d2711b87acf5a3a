// redundant.c: see redundant.h.
#include "base/random.h"
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "system/redundant.h"
#include "linalg/dense.h"
#include <math.h>
#include <stdlib.h>

static const double DEPENDENT = 1e-5; // (RED-2)  between rounding (1e-15), misfit of an assembled start (1e-8) and real
                                      // angles
static const double WEAK = 1e-4;      // (RED-4)  G of the kept rows then has a condition of 1e8
static const double EQUAL = 1e-9;     // lengths of columns this near are equal, and the first is taken on every machine
static const double ROUNDING = 1e-14; // pivots below this part of their row have cancelled
static const double LAST_BIT = 1e-15; // ... where mu on the diagonal has already been added
static const double STAYS = 1e-6;     // of a direction of motion: less of it left after the projection is none
static const double FIRST = 1e-9;     // way of the first trial along a motion
static const double FITS = 1e-12;     // misfit of joints, of the length of the motion
enum { MOST_ROWS = 2000 };            // dense; beyond that it would take minutes

// -- columns -------------------------------------------------------------------------------------------

static double *column(const carom_redundant *r, int id) { return r->A + (size_t)id * (size_t)r->sys->nv; }

// (RED-1)  A at (t, q).
static bool look(carom_redundant *r, void *work, double t, const double *q) {
    const int nv = r->sys->nv, n = r->n;
    carom_local *L = &r->L;
    L->nb = n;
    for (int id = 0; id < n; ++id) L->id[id] = L->at[id] = id;
    L->at[n] = n;
    carom_zero(L->w, n);
    if (!L->W.count) carom_zero(L->W.a, (ptrdiff_t)n * L->W.rows);
    else for (int k = 0; k < n; ++k) L->W.count[k] = 0;
    if (r->sys->directions(r->sys->model, work, t, q, L) != CAROM_OK) return false;
    for (int id = 0; id < n; ++id) {
        double *a = column(r, id);
        carom_column_expand(a, &L->W, id);
        for (int i = 0; i < nv; ++i) a[i] *= r->D[i];
        const double length = r->S[id] = carom_length(a, nv);
        if (!(length < HUGE_VAL)) return false;
        for (int i = 0; i < nv && length > 0; ++i) a[i] /= length;
    }
    return true;
}

// Column m of A without its part along column j of Q.
static void remove_part(carom_redundant *r, int j, int m) {
    const int nv = r->sys->nv;
    const double *q = column(r, r->order[j]);
    double *a = column(r, r->order[m]);
    const double part = r->R[j + (size_t)m * (size_t)r->n] = carom_dot(q, a, nv);
    carom_axpy(a, -part, q, nv);
}

// Column j of A becomes one of Q.  Returns r_jj.
static double finish(carom_redundant *r, int j) {
    double *a = column(r, r->order[j]);
    const double length = r->R[j + (size_t)j * (size_t)r->n] = carom_length(a, r->sys->nv);
    for (int i = 0; i < r->sys->nv && length > 0; ++i) a[i] /= length;
    return length;
}

static void bring_longest(carom_redundant *r, int j) {
    int longest = j;
    double most = -1;
    for (int m = j; m < r->n; ++m) {
        const double length = carom_length(column(r, r->order[m]), r->sys->nv);
        if (length > most * (1 + EQUAL)) most = length, longest = m; // of equals the first, whatever rounding says
    }
    const int id = r->order[longest];
    for (int m = longest; m > j; --m) r->order[m] = r->order[m - 1];
    r->order[j] = id;
}

// (RED-2)  by modified Gram-Schmidt.  Stops after `rows` rows, or where the longest column left is not longer than
//          `cut`.
// Returns the number of rows in front of that.
static int factorise_longest_first(carom_redundant *r, int rows, double cut) {
    for (int id = 0; id < r->n; ++id) r->order[id] = id;
    for (int j = 0; j < rows; ++j) {
        bring_longest(r, j);
        if (!(finish(r, j) > cut)) return j;
        for (int m = j + 1; m < r->n; ++m) remove_part(r, j, m);
    }
    return rows;
}

// The rows in front in their order.  Returns the smallest |r_jj| of theirs.
static double factorise_kept(carom_redundant *r) {
    const int kept = r->n - r->k;
    double least = HUGE_VAL;
    for (int j = 0; j < kept; ++j) {
        least = fmin(least, finish(r, j));
        for (int m = j + 1; m < r->n; ++m) remove_part(r, j, m);
    }
    return least;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void choose(carom_redundant *r) {
    const int kept = r->n - r->k;
    factorise_longest_first(r, kept, -1);
    qsort(r->order, (size_t)kept, sizeof *r->order, ascending);
    qsort(r->order + kept, (size_t)r->k, sizeof *r->order, ascending);
}

// -- in a run --------------------------------------------------------------------------------------------

carom_redundant carom_allocate_redundant(carom_arena *mem, carom_arena *keep, const carom_system *sys, int k) {
    carom_redundant r = {.sys = sys, .n = sys->ne, .k = k};
    const size_t n = (size_t)sys->ne, nv = (size_t)sys->nv;
    carom_system joints = *sys;
    joints.nc = 0;
    r.order = carom_allocate_ints(keep, n);
    r.before = carom_allocate_ints(mem, n);
    r.D = carom_allocate(mem, nv);
    r.L = carom_allocate_local(mem, &joints);
    r.A = carom_allocate(mem, nv * n);
    r.R = carom_allocate(mem, n * n);
    r.S = carom_allocate(mem, n);
    r.Z = carom_allocate(mem, n * (size_t)k);
    r.B = carom_allocate(mem, (size_t)k * (size_t)k);
    CAROM_ALLOCATE(mem, n, &r.x, &r.y);
    return r;
}

// Coordinates without inertia count like the lightest.
static bool weigh(carom_redundant *r, void *work, carom_matrix M, double t, const double *q) {
    double most = 0;
    carom_matrix_zero(M);
    if (r->sys->mass(r->sys->model, work, t, q, M) != CAROM_OK) return false;
    for (int i = 0; i < r->sys->nv; ++i) {
        const double *m = carom_matrix_entry(M, i, i);
        r->D[i] = m && *m > 0 ? 1 / sqrt(*m) : 0;
        most = fmax(most, r->D[i]);
    }
    for (int i = 0; i < r->sys->nv; ++i)
        if (r->D[i] == 0) r->D[i] = most > 0 ? most : 1;
    return true;
}

bool carom_redundant_start(carom_redundant *r, void *work, carom_matrix M, double t, const double *q) {
    if (!weigh(r, work, M, t, q) || !look(r, work, t, q)) return false;
    choose(r);
    return true;
}

bool carom_redundant_look(carom_redundant *r, void *work, double t, const double *q, bool *changed) {
    if (changed) *changed = false;
    if (!look(r, work, t, q)) return false;
    if (factorise_kept(r) > WEAK) return true;
    for (int i = 0; i < r->n; ++i) r->before[i] = r->order[i];
    if (!look(r, work, t, q)) return false;
    choose(r);
    for (int i = 0; i < r->n && changed; ++i) *changed = *changed || r->before[i] != r->order[i];
    if (!look(r, work, t, q)) return false;
    factorise_kept(r);
    return true;
}

// Column c of Z: 1 for the row left out, and what the kept rows must add for W z = 0.  In units of A:  R_kept y = R_c.
static void null_vector(const carom_redundant *r, int c) {
    const int n = r->n, kept = n - r->k;
    double *z = r->Z + (size_t)c * (size_t)n, *y = r->y;
    carom_copy(y, r->R + (size_t)(kept + c) * (size_t)n, kept);
    for (int j = kept - 1; j >= 0; --j) {
        const double *R = r->R + (size_t)j * (size_t)n;
        y[j] = R[j] > 0 ? y[j] / R[j] : 0;
        carom_axpy(y, -y[j], R, j);
    }
    carom_zero(z, n);
    z[r->order[kept + c]] = 1;
    for (int j = 0; j < kept; ++j)
        if (r->S[r->order[j]] > 0) z[r->order[j]] = -y[j] * r->S[r->order[kept + c]] / r->S[r->order[j]];
}

// (RED-5)
void carom_redundant_share(carom_redundant *r, double *p) {
    const int n = r->n, k = r->k;
    for (int c = 0; c < k; ++c) null_vector(r, c);
    for (int c = 0; c < k; ++c) {
        const double *z = r->Z + (size_t)c * (size_t)n;
        r->x[c] = carom_dot(z, p, n);
        for (int d = c; d < k; ++d) r->B[d + (size_t)c * (size_t)k] = carom_dot(z, r->Z + (size_t)d * (size_t)n, n);
    }
    carom_dense_ldl(r->B, k, k, ROUNDING, r->y);
    carom_dense_ldl_solve(r->B, k, k, r->x);
    for (int c = 0; c < k; ++c) carom_axpy(p, -r->x[c], r->Z + (size_t)c * (size_t)n, n);
}

// Rows left out stand alone in their columns of Z.
void carom_redundant_gather(carom_redundant *r, double *p) {
    const int kept = r->n - r->k;
    for (int c = 0; c < r->k; ++c) {
        null_vector(r, c);
        r->x[c] = p[r->order[kept + c]];
    }
    for (int c = 0; c < r->k; ++c) carom_axpy(p, -r->x[c], r->Z + (size_t)c * (size_t)r->n, r->n);
}

// -- counting ----------------------------------------------------------------------------------------------

typedef struct count {
    carom_redundant r;
    void *work;
    carom_matrix M;
    double t, t_1;
    const double *q;
    double *q_1;            // nq
    double *A_0, *G;        // A at the start; n x n
    double *x, *y, *g;      // nv: a motion, in units of A's rows and of velocities; ne + nc
    double *diagonal, *b;   // n each
    double length;          // of the motion, in units of A's rows
} count;

static void allocate_count(count *c, carom_arena *mem, const carom_system *sys) {
    const size_t n = (size_t)sys->ne, nv = (size_t)sys->nv;
    c->r = carom_allocate_redundant(mem, mem, sys, 0);
    c->work = carom_allocate_bytes(mem, sys->work_size);
    c->M = carom_allocate_matrix(mem, sys->mass_shape);
    c->q_1 = carom_allocate(mem, (size_t)sys->nq);
    c->A_0 = carom_allocate(mem, nv * n);
    c->G = carom_allocate(mem, n * n);
    CAROM_ALLOCATE(mem, nv, &c->x, &c->y);
    c->g = carom_allocate(mem, n + (size_t)sys->nc);
    CAROM_ALLOCATE(mem, n, &c->diagonal, &c->b);
}

// G = A'A + mu I, factorised.
static void form_gram(count *c, double mu) {
    carom_redundant *r = &c->r;
    const int n = r->n, nv = r->sys->nv;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
            c->G[i + (size_t)j * (size_t)n] = carom_dot(column(r, i), column(r, j), nv) + (i == j ? mu : 0);
    carom_dense_ldl(c->G, n, n, LAST_BIT, c->diagonal);
}

// y = A (A'A + mu I)^-1 b
static void answer(count *c, double mu, double *y) {
    carom_redundant *r = &c->r;
    form_gram(c, mu);
    carom_dense_ldl_solve(c->G, r->n, r->n, c->b);
    carom_zero(y, r->sys->nv);
    for (int id = 0; id < r->n; ++id) carom_axpy(y, c->b[id], column(r, id), r->sys->nv);
}

// Are no rows dependent?  By elimination within the envelope of A'A, which costs little for chains.
static bool independent(count *c) {
    const carom_redundant *r = &c->r;
    const int n = r->n;
    int *first = r->order;
    double *d = c->diagonal;
    for (int i = 0; i < n; ++i) {
        double *row = c->G + (size_t)i * (size_t)n;
        first[i] = i;
        for (int j = 0; j <= i; ++j) {
            const carom_entries W = carom_entries_of(&r->L.W, j);
            double sum = 0; // over the entries of column j: most share none with column i
            for (int e = 0; e < W.n; ++e) {
                const int k = carom_entry_row(&W, e);
                sum += column(r, i)[k] * column(r, j)[k];
            }
            row[j] = sum;
            if (sum != 0 && j < first[i]) first[i] = j;
        }
        for (int j = first[i]; j < i; ++j)
            for (int k = first[i] > first[j] ? first[i] : first[j]; k < j; ++k)
                row[j] -= row[k] * c->G[k + (size_t)j * (size_t)n];
        d[i] = row[i];
        for (int j = first[i]; j < i; ++j) {
            const double l = row[j] / d[j];
            d[i] -= l * row[j];
            row[j] = l;
        }
        if (!(d[i] > WEAK * WEAK)) return false;
    }
    return true;
}

static void move(const count *c, double *q_1, const double *q, double s, const double *y) {
    const carom_system *sys = c->r.sys;
    if (sys->move) sys->move(sys->model, q_1, q, s, y);
    else carom_add(q_1, q, s, y, sys->nq);
}

// A motion that the constraints allow, at the start: of any freedom, or (timed) with what is prescribed.  False: there
// is none.
static bool allowed_motion(count *c, bool timed, unsigned *seed) {
    carom_redundant *r = &c->r;
    const int nv = r->sys->nv, n = r->n;
    const double mu = DEPENDENT * DEPENDENT;
    if (!look(r, c->work, c->t, c->q)) return false;
    for (int i = 0; i < nv; ++i) c->x[i] = timed ? 0 : carom_random(seed);
    const double before = timed ? 0 : carom_length(c->x, nv);
    for (int id = 0; id < n; ++id)
        c->b[id] = carom_dot(column(r, id), c->x, nv) + (timed && r->S[id] > 0 ? r->L.w[id] / r->S[id] : 0);
    answer(c, mu, c->y);
    carom_axpy(c->x, -1, c->y, nv);
    c->length = carom_length(c->x, nv);
    for (int i = 0; i < nv; ++i) c->y[i] = r->D[i] * c->x[i];
    return c->length > STAYS * before;
}

// How much columns have turned since the start.
static double turned(const count *c) {
    const int nv = c->r.sys->nv;
    double most = 0;
    for (int id = 0; id < c->r.n; ++id) {
        double sum = 0;
        for (int i = 0; i < nv; ++i) {
            const double d = column(&c->r, id)[i] - c->A_0[(size_t)id * (size_t)nv + (size_t)i];
            sum += d * d;
        }
        most = fmax(most, sqrt(sum));
    }
    return most;
}

// Along the motion until columns have turned by some hundredths; its length is made that long.  False: they do not
// turn.
static bool go_along(count *c, bool timed) {
    static const double ENOUGH = 0.02; // rad: well above rounding, and small enough for a motion of first order
    enum { MOST = 60 }; // doublings: from rounding to any length
    double s = FIRST / fmax(carom_norm_max(c->y, c->r.sys->nv), CAROM_NOT_ZERO);
    for (int k = 0; k < MOST; ++k, s *= 2) {
        c->t_1 = timed ? c->t + s : c->t;
        move(c, c->q_1, c->q, s, c->y);
        if (!look(&c->r, c->work, c->t_1, c->q_1)) return false;
        if (turned(c) < ENOUGH) continue;
        c->length *= s;
        return true;
    }
    return false;
}

// Back to where all constraints hold, by Levenberg and Marquardt: redundant rows are independent beside that place, and
// undamped steps along them would be long.
static bool fit(count *c) {
    enum { MOST = 60 };
    const carom_system *sys = c->r.sys;
    double last = HUGE_VAL;
    for (int k = 0; k < MOST; ++k) {
        carom_zero(c->g, sys->ne + sys->nc);
        if (sys->gaps(sys->model, c->work, c->t_1, c->q_1, c->g) != CAROM_OK || !look(&c->r, c->work, c->t_1, c->q_1))
            return false;
        double off = 0;
        for (int id = 0; id < c->r.n; ++id) {
            c->b[id] = c->r.S[id] > 0 ? -c->g[id] / c->r.S[id] : 0;
            off = fmax(off, fabs(c->b[id]) / c->length);
        }
        if (!(off < HUGE_VAL)) return false;
        if (off <= FITS || (off <= DEPENDENT && off >= 0.5 * last)) return true; // no longer halved: rounding
        last = off;
        answer(c, off * off + ROUNDING, c->x);
        for (int i = 0; i < sys->nv; ++i) c->y[i] = c->r.D[i] * c->x[i];
        move(c, c->q_1, c->q_1, 1, c->y);
    }
    return last <= DEPENDENT;
}

// (RED-2), (RED-3)
static int counted(count *c) {
    enum { TRIALS = 4 };
    carom_redundant *r = &c->r;
    if (!weigh(r, c->work, c->M, c->t, c->q) || !look(r, c->work, c->t, c->q) || independent(c)) return 0;
    carom_copy(c->A_0, r->A, (ptrdiff_t)r->n * r->sys->nv);
    int least = r->n - factorise_longest_first(r, r->n, DEPENDENT);
    const bool timed = carom_norm_max(r->L.w, r->n) > 0;
    unsigned seed = 1;
    for (int i = 0; i < TRIALS && least > 0; ++i) {
        const bool time = timed && i == 0;
        if (!allowed_motion(c, time, &seed) || !go_along(c, time) || !fit(c) || !look(r, c->work, c->t_1, c->q_1))
            continue;
        const int k = r->n - factorise_longest_first(r, r->n, DEPENDENT);
        if (k < least) least = k;
    }
    return least;
}

int carom_redundant_count(const carom_system *sys, double t, const double *q) {
    if (sys->ne == 0 || sys->ne > MOST_ROWS) return 0;
    count c = {.t = t, .q = q};
    carom_arena mem = {0};
    allocate_count(&c, &mem, sys);
    const size_t size = mem.used;
    void *block = calloc(1, size + 64);
    if (!block) return -1;
    mem = (carom_arena){.base = (unsigned char *)block + (64 - (size_t)block % 64) % 64, .size = size};
    allocate_count(&c, &mem, sys);
    if (sys->work_init) sys->work_init(sys->model, c.work);
    const int k = counted(&c);
    carom_arena_release(&mem);
    free(block);
    return k;
}
