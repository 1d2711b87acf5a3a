// bodies.h: what the files of the solver `bodies` share: the problem in the space of bodies, and how threads divide it.
#pragma once
#include "contact/law.h"
#include "contact/operator.h"
#include "solver/anderson.h"
#include <carom/team.h>
#include <string.h>

enum { SIZE = 6, COLOURS = 64 }; // velocities of a body; colours of contacts
enum { CAROM_BODIES_AGES = 64 }; // sweeps after which the momentum of a contact grows no more
enum { CAROM_BODIES_WIDE = 4 };  // contacts of a group
enum { PIECE = 64, FEW = 32 };   // contacts, rows or bodies of a partial sum; a problem of fewer contacts is solved by
                                 // one thread

typedef struct carom_quartet carom_quartet;       // bodies_four.c
typedef struct carom_body_row carom_body_row;

typedef struct bodies {
    const carom_problem *given;
    carom_team *team;          // whose parts may wait for each other; NULL: one thread
    int n, nb, count;          // rows, contacts, bodies
    carom_block *block;        // nb
    int *from, colour[COLOURS + 2], colours; // nb: which contact of the given problem; where each colour starts; the
                                             // last may share bodies
    int *of;                   // 2 nb: bodies of each contact, -1: none
    int *start, *at;           // bodies + 1, 2 nb: contacts of each body, 2 contact + side
    int *own;                  // CAROM_TEAM + 1: where the bodies of each thread start
    int *cut, *middle;         // (COLOURS + 1) (CAROM_TEAM + 1): by colour and thread, where its contacts start; its
                               // first inner one in `order`
    int *order;                // nb: contacts of each colour and thread, those that touch shared bodies first
    unsigned char *age;        // nb: sweeps since a contact last turned back
    bool *shared;              // bodies: contacts of several threads act on it
    double *J;                 // 2 SIZE n: of contact b from 2 SIZE at on, first body then second, by rows
    const double **G;          // nb: G_bb, column-major, where the given problem has it; for sweeps
    double *d, *scale, *K;     // scales of rows; of contacts; 1/(rho scale)
    double *c;                 // n
    double *x, *z, *g;         // ADMM, and sweeps
    double *p, *step, *u;      // one place: b of ADMM; its step; velocities where a point is judged
    double *t;                 // nb: squares of steps of ADMM, in the place of G
    carom_anderson anderson;
    double *y, *w, *direction; // SIZE bodies each
    double *y_old, *r;         // the same, in one place: of sweeps; of ADMM
    double *y_new, *product;   // the same, in one place: of sweeps and of points that are judged; of conjugate
                               // gradients
    double *diagonal;          // SIZE^2 bodies: inverses of the blocks of I + J'K J
    double *sum[2];            // partial sums
    double error, target;
    double limit;              // of work, see choice.h
    const double *beta;        // momentum of sweeps, by age
    const float *beta_four;    // the same
    carom_body_row *row;       // sweeps of four contacts at once: bodies, in the place of what ADMM remembers,
    carom_quartet *group;        // and groups behind them;
    int *lead;                 // by order: the group that begins there; in the place of `at`
    bool four;                 // they are in use
    int iterations, quick;     // all; those of four contacts at once
} bodies;

/// What a piece of work needs to know.  `most` is given back.
typedef struct task {
    bodies *w;
    const double *in;
    double *out, alpha;
    double most[CAROM_TEAM]; // by thread
} task;

static inline double largest(const task *t) {
    double most = 0;
    for (int i = 0; i < (t->w->team ? t->w->team->n : 1); i++)
        if (!(t->most[i] <= most)) most = t->most[i];
    return most;
}

// Returns when all threads have come here.
static inline void meet(const bodies *w, int part, int parts, int *step) {
    if (parts == 1) return;
    w->team->signal(w->team, part, ++*step);
    w->team->wait(w->team, part, *step);
}

static inline double total(const double *sum, int n) {
    double all = 0;
    for (int i = 0; i < (n + PIECE - 1) / PIECE; i++) all += sum[i];
    return all;
}

// -- what a thread owns: a range of bodies, and of every colour the contacts whose lower body is among them -----------

static inline void own_bodies(const bodies *w, int part, int parts, int *from, int *to) {
    *from = parts > 1 ? w->own[part] : 0;
    *to = parts > 1 ? w->own[part + 1] : w->count;
}

static inline void own_contacts(const bodies *w, int colour, int part, int parts, int *from, int *to) {
    const int *cut = w->cut + colour * (CAROM_TEAM + 1) + part;
    *from = parts > 1 ? cut[0] : w->colour[colour];
    *to = parts > 1 ? cut[1] : w->colour[colour + 1];
}

// The pieces of fixed size that begin in a range.
static inline void own_pieces(int n, int *from, int *to) {
    *from = (*from + PIECE - 1) / PIECE * PIECE;
    *to = (*to + PIECE - 1) / PIECE * PIECE;
    if (*from > n) *from = n;
    if (*to > n) *to = n;
}

/// For every contact b that a thread owns.
#define OWN_CONTACTS(w, part, parts, b)                                                                                \
    for (int k_ = 0, b_, end_; k_ < (w)->colours; k_++)                                                                \
        if (own_contacts(w, k_, part, parts, &b_, &end_), b_ < end_)                                                   \
            for (int b = b_; b < end_; b++)

// -- products ---------------------------------------------------------------------------------------------------------

typedef double pair __attribute__((vector_size(16))); // rows of J and bodies of y have three of them
static inline pair load(const double *x) { pair a; memcpy(&a, x, sizeof a); return a; }
static inline void store(double *x, pair a) { memcpy(x, &a, sizeof a); }

// y += J'p
static inline void row_add(const double *restrict J, int rows, const double *restrict p, double *restrict y) {
    pair a = load(y), b = load(y + 2), c = load(y + 4);
    for (int r = 0; r < rows; r++, J += SIZE) a += load(J) * p[r], b += load(J + 2) * p[r], c += load(J + 4) * p[r];
    store(y, a), store(y + 2, b), store(y + 4, c);
}

// u += J y
static inline void row_take(const double *restrict J, int rows, const double *restrict y, double *restrict u) {
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

/// Of a tolerance: what is aimed at; the certificate measures the same, up to rounding.
#define CAROM_BODIES_AIM 0.95
/// Work so far in nanoseconds: of preparation, and of iterations; of four contacts at once they take less.
static inline double carom_bodies_work(const bodies *w) {
    return (500 + 80.0 * (w->iterations - w->quick) + 30.0 * w->quick) * w->nb;
}
static inline bool carom_bodies_tired(const bodies *w) { return carom_bodies_work(w) > w->limit; }

/// The problem by colours and bodies.  False: a contact acts on more than two bodies, or a body has no mass or more
/// than six velocities.
bool carom_bodies_begin(bodies *w);
/// F = L L' of a symmetric positive block, lower triangle, column-major.  False: it is not.
bool carom_bodies_factor(const double *F, int n, double *L);
/// Call visit(t, from, to) for the thread's contacts, turns `from` to before `to`, such that a body sees its contacts
/// in their order.  Before a contact that touches a shared body all threads have come here and done what precedes it;
/// the others wait for nobody, so a thread that is late in one colour keeps none waiting.  Returns when all threads are
/// done: the largest number that the thread's calls returned.  *step: to which this thread has come.
double carom_bodies_in_order(const task *t, int part, int parts, int *step,
                             double (*visit)(const task *t, int from, int to));
/// visit: out += J'in; returns 0
double carom_bodies_push(const task *t, int from, int to);
/// Contacts of each body, in start and at.
void carom_bodies_list(void *user, int part, int parts);
/// y = J'p, u = J y + c, and the error of p; the best is kept in the given problem.
double carom_bodies_look(bodies *w, const double *p, double *y);
/// Rows of a contact where the given problem has them.
static inline double *given_rows(const bodies *w, int b, double *p) { return p + w->given->block[w->from[b]].at; }
/// ADMM from the best impulses on, until their error is below the target or they get no better.
void carom_bodies_split(bodies *w);

/// Sweeps in single precision, four contacts at once (bodies_four.c).  Begin with the impulses of the given problem;
/// false: they are not for this problem.
bool carom_bodies_four_begin(bodies *w);
/// Velocities J'z of bodies; first: nothing is extrapolated.
void carom_bodies_four_set(bodies *w, const double *y, bool first);
/// One sweep more; the largest change.
double carom_bodies_four_sweep(bodies *w);
/// z of the groups becomes w->z.
void carom_bodies_four_read(bodies *w);
/// Bytes of groups and rows for that many rows and contacts at most.
size_t carom_bodies_four_size(int n, int nb);
