// inside.h (private): what the functions of carom/scheme.h keep between calls, and the simulation gives them.  No scheme looks in here.
#pragma once
#include "base/tolerance.h"
#include <carom/difference.h>
#include "scheme/responses.h"
#include "solver/solvers.h"
#include <math.h>

enum { CAROM_SHORT_SUM = 8 }; // products; longer sums have a loop of their own

/// What has to be multiplied for G = A'X with sparse columns, remembered while their rows stay the same.
typedef struct carom_products {
    int of_n;                 // rows of the problem that this is for
    bool alike, fits;         // A and W have the same rows: one triangle is enough; there was room for all products
    int n, room, *at, *terms; // entries of G, short sums first; of each: where it stands, twice; of how many products it is the sum
    int *pair;                // products: an entry of A, an entry of X
    int *at_by_column, *terms_by_column, *pair_by_column; // the same, column by column
    int sums[CAROM_SHORT_SUM + 1]; // entries by the number of their products; sums[0]: of the longer ones
    int *first;               // carom_problem.first
    int *known[2];            // counts and rows of A and W
    int *head, *next, *of;    // entries by unknown: first, next, the column of each
    int *count, *scratch;     // n, 2 nv
} carom_products;

/// G = a A'F^-1 W by blocks, for systems whose contacts come and go.  Constraint b acts on the parts link_part[first[b] .. first[b + 1] - 1].
typedef struct carom_assembly {
    int nparts, largest;
    const int *part;          // of the system
    bool begun;
    double *inverse;          // of F, part by part; its diagonal, where F is diagonal
    bool only_diagonal;
    size_t *inverse_at;       // nparts
    const carom_factor *F;    // what the inverse belongs to
    long count;
    int *part_of;             // nv
    int nb, *first;           // constraints of the last problem; nb + 1
    int *link_part, *link_of; // part and constraint of each
    size_t *link_at;          // where its directions start in `from` and X, by rows
    int *head, *next;         // links of each part, in the order of constraints
    int *cursor;              // by link: scratch
    int *place;               // nb: scratch
    double *A, *X;            // directions, where they do not stand side by side in those of L; a F^-1 W, where the blocks of G are made
    const double *from;       // directions: A, or those of L
    int ld;                   // from one row of a link to the next; 0: as many numbers as the part has velocities
    double scale;             // a
    const carom_local *L;     // of the last problem
    double *own;              // diagonal blocks of G
    double *x, *y;            // scratch, in one place: nv, or `largest` of every thread; 2 nv, see carom_parts
    bool even;                // A and W are the same
    bool full;                // blocks of G beside the diagonal are there
    int *start, *col, *at, *diagonal;
    double *value;
    carom_block_rows rows;
    carom_parts parts;
    int *link_body, *body_of; // number of each part among those that take part; nparts
    size_t links, numbers, blocks, values; // room
} carom_assembly;

/// F^-1 W of a contact problem, and what is kept of it while F and W are constant: then a column of W'F^-1 W is computed
/// when its contact is closed for the first time, and never again.
typedef struct carom_delassus {
    carom_columns sparse, dense; // columns F^-1 W_k: of a diagonal F and sparse W; of the rest, as many as there is room for
    int *column;                 // by row of the problem: its column; -1: not stored, reactions are applied by solving
    const carom_factor *F;       // of the last problem
    const carom_local *L;
    long formed;                 // problems so far
    double *x;                   // nv
    carom_columns source;        // of a constant mass: W_k of the columns of `dense` that are solved; a NULL: not remembered
    int sources;
    carom_products products[2];  // of sparse columns: A and W have other rows; the same
    const carom_products *last;  // those of the last problem, if the same
    const carom_products *only;  // s->G is zero but for the entries of these; NULL: not known
    bool keeps, kept;            // the system's W is constant and large enough to keep columns; those of the last problem are kept
    const carom_factor *F_kept;  // what the rest belongs to; NULL: nothing yet
    long count;
    carom_responses keep;             // W'F^-1 W
    int stored;                  // columns of `dense` in use
    int *slot;                   // by direction: column of `dense`, or -1 where it is not stored
    int *from;                   // by row of the problem: its direction
} carom_delassus;

/// The gaps by which the scheme decided in this step what is closed, and where; for the simulation, which bounds those at the end of the step by them.
typedef struct carom_noted {
    bool on;       // requested
    bool seen;     // in this step
    double *q, *g; // nq, nc
} carom_noted;

/// Rules of dissipation (EN-6).  Of steps outside the condition of their rule, kept: energy that they created.
enum { CAROM_RULE_NONE, CAROM_RULE_THETA, CAROM_RULE_MEAN, CAROM_RULE_NEWMARK };
typedef struct carom_rise {
    double sum, most, t; // all of it; in one step, and when
    double rule, x, y;   // which rule there, CAROM_RULE_*; theta and 1/(1 + e), or theta, or gamma and beta
} carom_rise;

typedef struct carom_inside {
    double t_0, t_end;   // of the run
    double solved;       // residual over s->scale of a problem that counts as solved; s->tol: what direct solvers aim at
    carom_prox_rule prox;
    double accept;       // where no solver does better: residual over contact.scale with which the step goes on and is counted
    carom_rise *rise;
    const double *residual; // kept: largest one of contact problems before those of carom_step.counts
    double spent;        // parts of the run's present step, with those of its halves and of all that was refused of it
    bool last;           // smaller steps have failed: contacts that meet a kink keep their plane (CL-10)
    const double *gaps;  // at the start of the step, as the simulation has them; NULL: it has none, or the system lacks some of its constraints
    double *warm;        // recorded directions, kept: reaction of the last contact problem, to start the next
    bool (*stop)(const void *user); // asked at every call of the system: shall the run stop?  NULL: it shall not
    const void *stop_user;
    carom_status (*on_event)(void *user, carom_side side, double t, const double *q, const double *v); // NULL if not requested
    carom_status (*on_change)(void *user, const carom_change *change); // events of schemes that locate them; NULL if not requested
    void *inner_user, *event_user, *change_user;
    /// Called before (report NULL) and after each contact problem; NULL if not requested.
    void (*on_problem)(void *user, double t, const carom_problem *pb, const carom_report *report);
    void *problem_user;
    const char *(*rate_name)(const void *user, int i); // of a velocity; NULL, or returns NULL: by number
    struct {
        bool booked;            // the scheme has booked the power of forces of this step
        double *given, *taken;  // nv + 1: carom_system.power_along, summed over the stages so far
    } power;
    carom_factor F_free;    // M, where a word needs it and the scheme has none
    bool mass_seen;         // M was factorised, so it is positive definite, since the simulation asked last
    double *a_free, *kappa; // nv: M^-1 f; by local direction: curvatures
    double *q_before, *kappa_before; // half a step before
    double *still;          // nv: zero
    carom_delassus delassus; // F^-1 W of the last problem
    carom_assembly assembly; // the same by blocks
    long holds, held;       // how often features were held so far (CAROM_HOLD); which of them are held now, 0: they are free
    double a;               // scale of the impulses in problem: p acts as a p
    carom_difference difference;
    carom_chain *chain;
    carom_noted noted;
    bool gaps_before;       // the scheme has asked for gaps at the start of a step (carom_gaps_before)
    struct carom_discs *discs; // contacts with a disc for each of sliding, rolling, spinning (discs.c); NULL: there are none
} carom_inside;

/// Contacts from which on a factorisation may cost seconds: what iteration leaves is accepted, as far as `accept`
/// allows.
enum { CAROM_HUGE_PROBLEM = 5000 };

/// (TOL-5)  With which residual over contact.scale does the chain of solvers end?
static inline double carom_acceptable(const carom_inside *x, int contacts) {
    return contacts > CAROM_HUGE_PROBLEM ? x->accept : fmin(x->accept, CAROM_EXCUSED);
}

carom_delassus carom_allocate_delassus(carom_arena *mem, const carom_system *sys);

