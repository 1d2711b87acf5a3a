// bodies.c: contact problems of many contacts in the space of bodies: sweeps with momentum, then accelerated ADMM.
//
// Spec: docs/solvers.md, "bodies".  G = J J' with a row of J for every row of the problem and six columns for every body, so that
// y = J'p are velocities in which the mass is the identity and u = J y + c: a product with G costs two with J, and neither G nor a factor of it
// is needed.  Sources: Y. Nesterov, Sov. Math. Dokl. 27 (1983) 372-376 for the momentum; hybrid_split.c and hybrid_accelerate.c for the rest.
//
// Contacts are ordered by colour: those of one colour share no body, so threads may sweep them together.  A body sums up what its contacts give in their
// order, and sums over all are sums of pieces of fixed size: the bits do not depend on the number of threads.
#include "contact/law.h"
#include "solver/anderson.h"
#include "solver/local.h"
#include <carom/team.h>
#include <string.h>

enum { SIZE = 6, SWEEPS = 60, CHECK = 4, MOST = 1000, WINDOW = 200, KRYLOV = 50 };
enum { COLOURS = 64, PIECE = 64, ALONE = 48 }; // colours; contacts or bodies of a partial sum; contacts of a colour that one thread sweeps alone
static const double RHO = 0.6, RELAX = 1.6, INEXACT = 0.3;

typedef struct bodies {
    const carom_problem *given;
    carom_team *team;
    int n, nb, count;          // rows, contacts, bodies
    carom_block *block;        // nb
    int *from, colour[COLOURS + 2], colours; // nb: which contact of the given problem; where each colour starts; the last may share bodies
    int *of;                   // 2 nb: bodies of each contact, -1: none
    int *start, *at;           // bodies + 1, 2 nb: contacts of each body, 2 contact + side
    double *J;                 // 2 SIZE n: of contact b from 2 SIZE at on, first body then second, by rows
    double *d, *scale, *K;     // scales of rows; of contacts; 1/(rho scale)
    double *c, *best;          // n
    double *x, *z, *g, *step;  // ADMM, and sweeps
    double *p, *u;             // one place: b and p of ADMM; velocities where a point is judged
    double *t, *f;             // one place: K J x; the map where a point is judged
    carom_anderson anderson;
    double *y, *y_new, *w, *direction, *product; // SIZE bodies each
    double *y_old, *r;         // the same, in one place: of sweeps; of ADMM
    double *diagonal;          // SIZE^2 bodies: inverses of the blocks of I + J'K J
    double *sum[2];            // partial sums
    double error, target;
    int iterations;
} bodies;

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    bodies *w = work;
    const size_t m = (size_t)n, b = 2 * (size_t)nb;
    double **rows[] = {&w->d, &w->c, &w->p, &w->best, &w->x, &w->z, &w->g, &w->step, &w->t};
    double **by_body[] = {&w->y, &w->y_new, &w->r, &w->w, &w->direction, &w->product};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = carom_allocate(mem, m);
    for (size_t i = 0; i < sizeof by_body / sizeof *by_body; i++) *by_body[i] = carom_allocate(mem, SIZE * b);
    w->u = w->p, w->f = w->t, w->y_old = w->r;
    for (int i = 0; i < 2; i++) w->sum[i] = carom_allocate(mem, b / PIECE + m / PIECE + 2);
    CAROM_ALLOCATE(mem, (size_t)nb, &w->scale, &w->K);
    w->block = carom_allocate_bytes(mem, (size_t)nb * sizeof *w->block);
    w->from = carom_allocate_ints(mem, (size_t)nb);
    w->of = carom_allocate_ints(mem, b);
    w->start = carom_allocate_ints(mem, b + 1);
    w->at = carom_allocate_ints(mem, b);
    w->J = carom_allocate(mem, 2 * SIZE * m);
    w->diagonal = carom_allocate(mem, SIZE * SIZE * b);
    carom_allocate_anderson(&w->anderson, mem, n, 5);
}

// -- sharing the work -----------------------------------------------------------------------------------------------------

/// What a piece of work needs to know.
typedef struct task {
    bodies *w;
    const double *in, *more;
    double *out, alpha;
    int from, to;          // contacts of a sweep
    double most[CAROM_TEAM]; // by thread
} task;

// The pieces of fixed size that a thread has of n things.
static void own_part(int n, int part, int parts, int *from, int *to) {
    const long pieces = (n + PIECE - 1) / PIECE;
    *from = (int)(pieces * part / parts) * PIECE;
    *to = (int)(pieces * (part + 1) / parts) * PIECE;
    if (*from > n) *from = n;
    if (*to > n) *to = n;
}

static double total(const double *sum, int n) {
    double all = 0;
    for (int i = 0; i < (n + PIECE - 1) / PIECE; i++) all += sum[i];
    return all;
}

static double largest(const task *t, const carom_team *team) {
    double most = 0;
    for (int i = 0; i < (team ? team->n : 1); i++)
        if (!(t->most[i] <= most)) most = t->most[i];
    return most;
}

static bool alone(const bodies *w) { return !w->team || w->team->n < 2; }

// -- the problem ----------------------------------------------------------------------------------------------------------

// F = L L' of a symmetric positive block, lower triangle, column-major.  False: it is not.
static bool factor(const double *F, int n, double *L) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = F[i + j * n];
            for (int k = 0; k < j; k++) sum -= L[i + k * n] * L[j + k * n];
            if (i == j && !(sum > 0)) return false;
            L[i + j * n] = i == j ? sqrt(sum) : sum / L[j + j * n];
        }
    return true;
}

// Colours: each contact gets the first that no other contact of its bodies has; those that get none come last, and are swept by one thread.
static void order(bodies *w, const carom_parts *x) {
    unsigned long long *used = (unsigned long long *)(void *)w->y; // by body; scratch
    unsigned char *colour = (unsigned char *)(void *)w->t;
    int count[COLOURS + 2] = {0};
    memset(used, 0, (size_t)x->bodies * sizeof *used);
    for (int b = 0; b < w->nb; b++) {
        unsigned long long taken = 0;
        int k = 0;
        for (int l = x->first[b]; l < x->first[b + 1]; l++) taken |= used[x->link_body[l]];
        while (k < COLOURS && taken >> k & 1) k++;
        for (int l = x->first[b]; l < x->first[b + 1] && k < COLOURS; l++) used[x->link_body[l]] |= 1ull << k;
        colour[b] = (unsigned char)k;
        count[k + 1]++;
    }
    w->colours = 0;
    for (int k = 0; k <= COLOURS; k++) {
        if (count[k + 1]) w->colours = k + 1;
        count[k + 1] += count[k];
        w->colour[k] = count[k];
    }
    w->colour[COLOURS + 1] = w->nb;
    for (int b = 0; b < w->nb; b++) w->from[count[colour[b]]++] = b;
    int at = 0;
    for (int b = 0; b < w->nb; b++) {
        const carom_block *old = w->given->block + w->from[b];
        w->block[b] = *old;
        w->block[b].at = at;
        at += carom_rows_of(old);
    }
}

// Contacts of each body.
static void list_contacts(bodies *w) {
    for (int i = 0; i <= w->count; i++) w->start[i] = 0;
    for (int k = 0; k < 2 * w->nb; k++)
        if (w->of[k] >= 0) w->start[w->of[k] + 1]++;
    for (int i = 0; i < w->count; i++) w->start[i + 1] += w->start[i];
    for (int k = 0; k < 2 * w->nb; k++)
        if (w->of[k] >= 0) w->at[w->start[w->of[k]]++] = k;
    for (int i = w->count; i > 0; i--) w->start[i] = w->start[i - 1];
    w->start[0] = 0;
}

// a M^-1 = L L' of each body, whose part stands in w->start; L in w->diagonal.
static void factor_bodies(void *user, int part_of, int parts) {
    task *t = user;
    bodies *w = t->w;
    const carom_parts *x = w->given->parts;
    int from, to;
    own_part(w->count, part_of, parts, &from, &to);
    for (int i = from; i < to; i++) {
        const int part = w->start[i], n = x->part[part + 1] - x->part[part];
        double F[SIZE * SIZE];
        for (int k = 0; k < n * n && n <= SIZE; k++) F[k] = x->scale * x->inverse[x->inverse_at[part] + (size_t)k];
        if (n > SIZE || !factor(F, n, w->diagonal + SIZE * SIZE * (size_t)i)) t->most[part_of] = INFINITY;
    }
}

// J = A L, contact by contact, and what else is known of them in their order.
static void fill_rows(void *user, int part_of, int parts) {
    task *t = user;
    bodies *w = t->w;
    const carom_parts *x = w->given->parts;
    int from, to;
    own_part(w->nb, part_of, parts, &from, &to);
    for (int b = from; b < to; b++) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b), first = x->first[w->from[b]];
        const int old = w->given->block[w->from[b]].at;
        double *J = w->J + 2 * SIZE * (size_t)at;
        w->scale[b] = 0;
        for (int i = 0; i < rows; i++) {
            w->c[at + i] = w->given->c[old + i], w->z[at + i] = w->given->p[old + i], w->d[at + i] = w->x[old + i];
            w->scale[b] += w->d[at + i] / rows;
        }
        w->K[b] = 1 / (RHO * w->scale[b]);
        memset(J, 0, 2 * SIZE * (size_t)rows * sizeof *J);
        w->of[2 * b] = w->of[2 * b + 1] = -1;
        for (int l = first; l < x->first[w->from[b] + 1]; l++) {
            const int part = x->link_part[l], n = x->part[part + 1] - x->part[part], ld = x->ld ? x->ld : n;
            if (l - first == 2) { t->most[part_of] = INFINITY; return; }
            const double *A = x->A + x->link_at[l], *L = w->diagonal + SIZE * SIZE * (size_t)x->link_body[l];
            double *to_J = J + (l - first) * SIZE * rows;
            w->of[2 * b + l - first] = x->link_body[l];
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < n; j++)
                    for (int i = j; i < n; i++) to_J[r * SIZE + j] += A[r * ld + i] * L[i + j * n];
        }
    }
}

static bool begin_rows(bodies *w) {
    const carom_parts *x = w->given->parts;
    task t = {.w = w};
    order(w, x);
    carom_problem_scales(&(carom_problem){.n = w->n, .nb = w->nb, .block = w->given->block, .rows = w->given->rows, .parts = w->given->parts}, w->x);
    w->count = x->bodies;
    for (int l = 0; l < x->first[w->nb]; l++) w->start[x->link_body[l]] = x->link_part[l];
    carom_team_run(w->team, factor_bodies, &t);
    if (!(largest(&t, w->team) < INFINITY)) return false;
    carom_team_run(w->team, fill_rows, &t);
    if (!(largest(&t, w->team) < INFINITY)) return false;
    list_contacts(w);
    return true;
}

typedef double pair __attribute__((vector_size(16))); // rows of J and bodies of y have three of them
static inline pair load(const double *x) { pair a; memcpy(&a, x, sizeof a); return a; }
static inline void store(double *x, pair a) { memcpy(x, &a, sizeof a); }

static inline void row_add(const double *restrict J, int rows, const double *restrict p, double *restrict y) { // y += J'p
    pair a = load(y), b = load(y + 2), c = load(y + 4);
    for (int r = 0; r < rows; r++, J += SIZE) a += load(J) * p[r], b += load(J + 2) * p[r], c += load(J + 4) * p[r];
    store(y, a), store(y + 2, b), store(y + 4, c);
}

static inline void row_take(const double *restrict J, int rows, const double *restrict y, double *restrict u) { // u += J y
    const pair a = load(y), b = load(y + 2), c = load(y + 4);
    for (int r = 0; r < rows; r++, J += SIZE) {
        const pair sum = load(J) * a + load(J + 2) * b + load(J + 4) * c;
        u[r] += sum[0] + sum[1];
    }
}

static inline void contact_add(const bodies *w, int b, int rows, const double *p, double *y) {
    const double *J = w->J + 2 * SIZE * (size_t)w->block[b].at;
    for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++) {
        double *to = y + SIZE * (size_t)w->of[2 * b + s];
        if (rows == 3) row_add(J + s * SIZE * 3, 3, p, to);
        else row_add(J + s * SIZE * rows, rows, p, to);
    }
}

static inline void contact_take(const bodies *w, int b, int rows, const double *y, double *u) {
    const double *J = w->J + 2 * SIZE * (size_t)w->block[b].at;
    for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++) {
        const double *from = y + SIZE * (size_t)w->of[2 * b + s];
        if (rows == 3) row_take(J + s * SIZE * 3, 3, from, u);
        else row_take(J + s * SIZE * rows, rows, from, u);
    }
}

// out = J'in, or more + J'in, each body for itself.
static void gather(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->count, part, parts, &from, &to);
    for (int i = from; i < to; i++) {
        double *y = t->out + SIZE * (size_t)i;
        for (int k = 0; k < SIZE; k++) y[k] = t->more ? t->more[SIZE * (size_t)i + (size_t)k] : 0;
        for (int l = w->start[i]; l < w->start[i + 1]; l++) {
            const int b = w->at[l] / 2, at = w->block[b].at, rows = carom_rows_of(w->block + b);
            row_add(w->J + SIZE * (size_t)(2 * at + (w->at[l] & 1) * rows), rows, t->in + at, y);
        }
    }
}

// The same with the bits of that.  One thread goes along the contacts, which lie one after the other.
static void collect(bodies *w, const double *in, const double *more, double *out) {
    task t = {.w = w, .in = in, .more = more, .out = out};
    if (!alone(w)) {
        w->team->run(w->team, gather, &t);
        return;
    }
    const size_t all = SIZE * (size_t)w->count * sizeof *out;
    if (more) memcpy(out, more, all);
    else memset(out, 0, all);
    for (int b = 0; b < w->nb; b++) contact_add(w, b, carom_rows_of(w->block + b), in + w->block[b].at, out);
}

static void judge(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    int from, to;
    double most = 0;
    own_part(w->nb, part, parts, &from, &to);
    for (int b = from; b < to; b++) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        for (int i = at; i < at + rows; i++) w->u[i] = w->c[i];
        contact_take(w, b, rows, t->out, w->u + at);
        carom_block_map(w->block + b, w->d, t->in, w->u, w->f);
        double slip = 0;
        for (int i = at + 1; i < at + rows; i++) slip += w->f[i] * w->f[i];
        const double own[2] = {fabs(w->f[at]), sqrt(slip)}; // as the certificate measures it
        for (int i = 0; i < 2; i++)
            if (!(own[i] <= most)) most = own[i] < INFINITY ? own[i] : INFINITY;
    }
    if (!(t->most[part] >= most)) t->most[part] = most;
}

// y = J'p, u = J y + c, and the error of p; the best is kept.
static double look(bodies *w, const double *p, double *y) {
    task t = {.w = w, .in = p, .out = y};
    collect(w, p, NULL, y);
    carom_team_run(w->team, judge, &t);
    const double error = largest(&t, w->team);
    if (error < w->error) {
        w->error = error;
        memcpy(w->best, p, (size_t)w->n * sizeof *p);
    }
    return error;
}

// -- sweeps with momentum -----------------------------------------------------------------------------------------------------

// (SOL-11) of a contact, y follows; returns the largest change, as a velocity.
static double relax(const bodies *w, int b, double *p, double *y) {
    const carom_block *k = w->block + b;
    const int rows = carom_rows_of(k), at = k->at;
    const double *g = carom_own_block(w->given, w->from[b]);
    double u[1 + CAROM_TANGENTS], q[1 + CAROM_TANGENTS], most = 0;
    for (int i = 0; i < rows; i++) u[i] = w->c[at + i];
    contact_take(w, b, rows, y, u);
    if (carom_has_friction(k)) {
        if (p[at] == 0 && u[0] >= 0) return 0; // open, and stays so
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < rows; i++) u[i] -= g[i + j * rows] * p[at + j];
        if (rows == 3) carom_local_spatial(g, 3, u, k->mu, 1e-6, q); // the next sweep changes more
        else carom_local_friction(g, rows, u, rows - 1, k->mu, q);
    } else {
        q[0] = g[0] > 0 ? p[at] - u[0] / g[0] : p[at];
        if (k->law != CAROM_BILATERAL && !(q[0] > 0)) q[0] = 0;
        for (int i = 1; i < rows; i++) q[i] = 0;
    }
    for (int i = 0; i < rows; i++) {
        const double change = q[i] - p[at + i];
        most = fmax(most, w->d[at + i] * fabs(change));
        p[at + i] = q[i];
        q[i] = change;
    }
    contact_add(w, b, rows, q, y);
    return most;
}

// A thread's share of the contacts of one colour.
static void sweep_colour(void *user, int part, int parts) {
    task *t = user;
    const long n = t->to - t->from;
    double most = t->most[part];
    for (int b = t->from + (int)(n * part / parts); b < t->from + (int)(n * (part + 1) / parts); b++) most = fmax(most, relax(t->w, b, t->out, t->w->y_new));
    t->most[part] = most;
}

static double sweep(bodies *w, double *p) {
    task t = {.w = w, .out = p};
    for (int k = 0; k < w->colours; k++) {
        t.from = w->colour[k], t.to = w->colour[k + 1];
        if (k == COLOURS || t.to - t.from < ALONE) sweep_colour(&t, 0, 1);
        else carom_team_run(w->team, sweep_colour, &t);
    }
    return largest(&t, w->team);
}

static void turns_back(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->n, part, parts, &from, &to);
    for (int i = from; i < to; i += PIECE) {
        double back = 0;
        for (int k = i; k < i + PIECE && k < to; k++) back += w->d[k] * (w->x[k] - w->g[k]) * (w->g[k] - w->z[k]);
        w->sum[0][i / PIECE] = back;
    }
}

// x and y of the next sweep, which begins from them.
static void extrapolate(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->n, part, parts, &from, &to);
    for (int i = from; i < to; i++) {
        const double g = w->g[i];
        w->g[i] = w->x[i] = g + t->alpha * (g - w->z[i]), w->z[i] = g;
    }
    own_part(w->count, part, parts, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++) {
        const double y = w->y_new[i];
        w->y_new[i] = w->y[i] = y + t->alpha * (y - w->y_old[i]), w->y_old[i] = y;
    }
}

// (SOL-21)  g_k = sweep(x_k),  x_k+1 = g_k + beta (g_k - g_k-1),  beta = (theta - 1)/theta',  theta' = (1 + sqrt(1 + 4 theta^2))/2;
//           theta = 1 again when a step turns back
static void sweeps(bodies *w) {
    const size_t rows = (size_t)w->n * sizeof(double), all = SIZE * (size_t)w->count * sizeof(double);
    double *x = w->x, *g = w->g, theta = 1;
    memcpy(x, w->best, rows), memcpy(w->z, x, rows), memcpy(g, x, rows); // z: g_k-1
    memcpy(w->y_old, w->y, all), memcpy(w->y_new, w->y, all);
    for (int it = 1; it <= SWEEPS; it++) {
        const double change = sweep(w, g);
        w->iterations++;
        if (change <= 3 * w->target || it % 10 == 0 || it == SWEEPS) {
            look(w, g, w->y_new); // y anew: sums gather rounding
            if (w->error <= w->target) return;
        }
        task t = {.w = w};
        carom_team_run(w->team, turns_back, &t);
        if (total(w->sum[0], w->n) > 0) theta = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta));
        t.alpha = (theta - 1) / next;
        theta = next;
        carom_team_run(w->team, extrapolate, &t);
    }
}

// -- ADMM -----------------------------------------------------------------------------------------------------------------------

// The inverse of a symmetric positive matrix, in place.
static bool invert(double *A) {
    double L[SIZE * SIZE] = {0}, X[SIZE * SIZE] = {0};
    if (!factor(A, SIZE, L)) return false;
    for (int j = 0; j < SIZE; j++)
        for (int i = j; i < SIZE; i++) { // L^-1
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= L[i + k * SIZE] * X[k + j * SIZE];
            X[i + j * SIZE] = sum / L[i + i * SIZE];
        }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = i > j ? i : j; k < SIZE; k++) sum += X[k + i * SIZE] * X[k + j * SIZE];
            A[i + j * SIZE] = sum;
        }
    return true;
}

// Blocks of I + J'K J on the diagonal, inverted; K = 1/(rho d).
static void precondition_part(void *user, int part, int parts) {
    task *t = user;
    bodies *w = t->w;
    int from, to;
    own_part(w->count, part, parts, &from, &to);
    for (int i = from; i < to; i++) {
        double *A = w->diagonal + SIZE * SIZE * (size_t)i;
        for (int k = 0; k < SIZE * SIZE; k++) A[k] = k % (SIZE + 1) == 0;
        for (int l = w->start[i]; l < w->start[i + 1]; l++) {
            const int b = w->at[l] / 2, at = w->block[b].at, rows = carom_rows_of(w->block + b);
            const double *J = w->J + SIZE * (size_t)(2 * at + (w->at[l] & 1) * rows), K = w->K[b];
            for (int r = 0; r < rows; r++)
                for (int m = 0; m < SIZE; m++)
                    for (int j = 0; j < SIZE; j++) A[m + j * SIZE] += K * J[r * SIZE + m] * J[r * SIZE + j];
        }
        if (!invert(A)) t->most[part] = INFINITY;
    }
}

static bool precondition(bodies *w) {
    task t = {.w = w};
    carom_team_run(w->team, precondition_part, &t);
    return largest(&t, w->team) < INFINITY;
}

static void scaled_rates(void *user, int part, int parts) { // t = K J in
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->nb, part, parts, &from, &to);
    for (int b = from; b < to; b++) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        for (int i = 0; i < rows; i++) w->t[at + i] = 0;
        contact_take(w, b, rows, t->in, w->t + at);
        for (int i = 0; i < rows; i++) w->t[at + i] *= w->K[b];
    }
}

// q = (I + J'K J) x
static void apply(bodies *w, const double *x, double *q) {
    if (!alone(w)) {
        task t = {.w = w, .in = x};
        w->team->run(w->team, scaled_rates, &t);
        collect(w, w->t, x, q);
        return;
    }
    memcpy(q, x, SIZE * (size_t)w->count * sizeof *q);
    for (int b = 0; b < w->nb; b++) {
        const int rows = carom_rows_of(w->block + b);
        double u[1 + CAROM_TANGENTS] = {0};
        contact_take(w, b, rows, x, u);
        for (int i = 0; i < rows; i++) u[i] *= w->K[b];
        contact_add(w, b, rows, u, q);
    }
}

// Products x.y of the bodies of each piece, from `from` to `to`.
static void dots(const double *x, const double *y, int from, int to, double *sum) {
    for (int i = from; i < to; i += PIECE) {
        const int end = SIZE * (i + PIECE < to ? i + PIECE : to);
        double a = 0, b = 0;
        for (int k = SIZE * i; k < end; k += 2) a += x[k] * y[k], b += x[k + 1] * y[k + 1];
        sum[i / PIECE] = a + b;
    }
}

static void curvature(void *user, int part, int parts) { // direction . product
    const task *t = user;
    int from, to;
    own_part(t->w->count, part, parts, &from, &to);
    dots(t->w->direction, t->w->product, from, to, t->w->sum[0]);
}

// y += alpha direction,  r -= alpha product,  w = D r,  and r.r, r.w
static void advance(void *user, int part, int parts) {
    const task *t = user;
    bodies *w = t->w;
    int from, to;
    own_part(w->count, part, parts, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++) t->out[i] += t->alpha * w->direction[i], w->r[i] -= t->alpha * w->product[i];
    for (int i = from; i < to; i++) {
        const double *D = w->diagonal + SIZE * SIZE * (size_t)i, *a = w->r + SIZE * (size_t)i;
        double *z = w->w + SIZE * (size_t)i;
        for (int k = 0; k < SIZE; k++) z[k] = D[k] * a[0] + D[k + 6] * a[1] + D[k + 12] * a[2] + D[k + 18] * a[3] + D[k + 24] * a[4] + D[k + 30] * a[5];
    }
    dots(w->r, w->r, from, to, w->sum[0]);
    dots(w->r, w->w, from, to, w->sum[1]);
}

static void turn(void *user, int part, int parts) { // direction = w + alpha direction
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->count, part, parts, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++) w->direction[i] = t->alpha != 0 ? w->w[i] + t->alpha * w->direction[i] : w->w[i];
}

// (I + J'K J) y = rhs, rhs in w->r, by conjugate gradients from the y that stands.
static void solve_bodies(bodies *w, double *y, double tol) {
    task t = {.w = w, .out = y, .alpha = 1};
    memcpy(w->direction, y, SIZE * (size_t)w->count * sizeof *y);
    memset(y, 0, SIZE * (size_t)w->count * sizeof *y);
    apply(w, w->direction, w->product);
    carom_team_run(w->team, advance, &t); // r = rhs - A y, and y again
    double rho = 0;
    for (int it = 0; it < KRYLOV && (it == 0 || total(w->sum[0], w->count) > tol * tol); it++) {
        const double now = total(w->sum[1], w->count);
        t.alpha = it ? now / rho : 0;
        rho = now;
        carom_team_run(w->team, turn, &t);
        apply(w, w->direction, w->product);
        carom_team_run(w->team, curvature, &t);
        t.alpha = rho / total(w->sum[0], w->count);
        if (!(fabs(t.alpha) < 1e300)) return;
        carom_team_run(w->team, advance, &t);
        w->iterations++;
    }
}

// x = z + w with z the impulse and -rho d w its velocity, at the best point.
static void split_start(bodies *w) {
    look(w, w->best, w->y);
    for (int b = 0; b < w->nb; b++) {
        const carom_block *k = w->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double s = -w->K[b], *u = w->u + at;
        double slip = 0;
        for (int i = 1; i < rows; i++) slip += u[i] * u[i];
        const bool open = k->law != CAROM_BILATERAL && w->best[at] == 0 && u[0] < 0;
        for (int i = 0; i < rows; i++) {
            const double v = open || k->law == CAROM_BILATERAL ? 0 : i ? u[i] : fmax(u[0] + (carom_has_friction(k) ? k->mu * sqrt(slip) : 0), 0);
            w->x[at + i] = w->best[at + i] + s * v;
        }
    }
}

// (SOL-22)  z = proj(x),  b = 2 z - x - K (c + mu |rho d w_T| n),  (I + J'K J) y = J'b,  p = b - K J y,  g(x) = x + 1.6 (p - z);
//           returns |d (g - x)|, the largest in *most.
static void project(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    const double *x = w->x;
    int from, to;
    own_part(w->nb, part, parts, &from, &to);
    for (int b = from; b < to; b++) {
        const carom_block *k = w->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double K = w->K[b];
        double slip = 0;
        carom_cone_project(k, x + at, w->z + at);
        for (int i = at; i < at + rows; i++) {
            w->p[i] = 2 * w->z[i] - x[i] - K * w->c[i];
            if (i > at) slip += (x[i] - w->z[i]) * (x[i] - w->z[i]);
        }
        if (carom_has_friction(k)) w->p[at] -= k->mu * sqrt(slip);
    }
}

static void correct(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    int from, to;
    double most = 0;
    own_part(w->nb, part, parts, &from, &to);
    for (int b = from; b < to; b++) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        double u[1 + CAROM_TANGENTS] = {0}, sum = 0;
        contact_take(w, b, rows, w->y, u);
        for (int i = 0; i < rows; i++) {
            const double e = RELAX * (w->p[at + i] - w->K[b] * u[i] - w->z[at + i]);
            w->g[at + i] = w->x[at + i] + e;
            w->step[at + i] = w->scale[b] * e;
            sum += w->step[at + i] * w->step[at + i];
            most = fmax(most, fabs(w->step[at + i]));
        }
        w->sum[0][b / PIECE] = b % PIECE ? w->sum[0][b / PIECE] + sum : sum;
    }
    t->most[part] = fmax(t->most[part], most);
}

static double split(bodies *w, double last, double *most) {
    task t = {.w = w};
    carom_team_run(w->team, project, &t);
    collect(w, w->p, NULL, w->r);
    solve_bodies(w, w->y, INEXACT * fmin(w->error, last));
    carom_team_run(w->team, correct, &t);
    *most = largest(&t, w->team);
    return sqrt(total(w->sum[0], w->nb));
}

static void splits(bodies *w) {
    const int n = w->n;
    double mark = INFINITY, most;
    if (!precondition(w)) return;
    split_start(w);
    carom_anderson_reset(&w->anderson, n, w->team);
    for (int it = 1; it <= MOST; it++) {
        const double size = split(w, w->anderson.last, &most);
        w->iterations++;
        if (!(size < INFINITY)) return;
        if (it % CHECK == 0 || most < w->target || it == MOST) {
            look(w, w->z, w->y_new);
            if (w->error <= w->target) return;
            if (it % WINDOW == 0 && w->error > 0.5 * mark) return;
            if (it % WINDOW == 0) mark = w->error;
        }
        carom_anderson_next(&w->anderson, w->x, w->g, w->step, size, 2);
    }
}

static void put_back(void *user, int part, int parts) { // impulses in the order of the given problem
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_part(w->nb, part, parts, &from, &to);
    for (int b = from; b < to; b++)
        for (int i = 0; i < carom_rows_of(w->block + b); i++) w->given->p[w->given->block[w->from[b]].at + i] = w->best[w->block[b].at + i];
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    bodies *w = work;
    w->given = pb;
    w->team = pb->team;
    w->n = pb->n, w->nb = pb->nb;
    if (!pb->parts || !(pb->rows || pb->parts->diagonal) || !begin_rows(w)) return (carom_report){.converged = false};
    w->error = INFINITY;
    w->target = 0.95 * tol; // the certificate measures the same, up to rounding
    w->iterations = 0;
    look(w, w->z, w->y);
    if (!(w->error < INFINITY)) return (carom_report){.converged = false};
    if (w->error > w->target) sweeps(w);
    if (w->error > w->target) splits(w);
    carom_team_run(w->team, put_back, &(task){.w = w});
    return (carom_report){.converged = w->error <= tol, .iterations = w->iterations};
}

const carom_solver carom_solver_bodies = {
    .name = "bodies",
    .about = "sweeps and ADMM over bodies; all laws, thousands of contacts to moderate tolerances",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .parts = true,
    .work_size = sizeof(bodies),
    .allocate = allocate,
    .solve = solve,
};
