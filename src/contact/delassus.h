// delassus.h: the Delassus operator
//
//     G = a V'F^-1 W                                                                   (DLS-1)
//
// of constraint directions V, force directions W (the same, unless an implicit step or a slip makes them differ) and a
// factor F, of the mass matrix or of an iteration matrix.  There is one builder.  Its storages give the same G to
// rounding:
//
//     columns   F^-1 W as dense columns; kept while F and W are constant
//     products  F diagonal and W sparse (joints): products of entries that share an unknown, listed once
//     parts  F couples velocities of one part only (a body): links between constraints and parts; G is dense for few
//     rows, beyond carom_delassus_dense_rows() by blocks
#pragma once
#include "contact/responses.h"
#include <carom/problem.h>

enum { CAROM_SHORT_SUM = 8 }; // products; longer sums have a loop of their own

/// What has to be multiplied for G = A'X with sparse columns, remembered while their rows stay the same.
typedef struct carom_products {
    int of_n;                 // rows of the problem that this is for
    int ld;                   // from one column of G to the next: n, or less (narrow)
    bool narrow;
    bool alike, fits;         // A and W have the same rows: one triangle is enough; there was room for all products
    int n, room, *at, *terms; // entries of G, short sums first; of each: where it stands, twice; of how many products
                              // it is the sum
    int *pair;                // products: an entry of A, an entry of X
    int *at_by_column, *terms_by_column, *pair_by_column; // the same, column by column
    int sums[CAROM_SHORT_SUM + 1]; // entries by the number of their products; sums[0]: of the longer ones
    int *first;               // carom_problem.first
    int *known[2];            // counts and rows of A and W
    int *head, *next, *of;    // entries by unknown: first, next, the column of each
    int *count, *scratch;     // n, 2 nv
} carom_products;

/// G by parts.  Constraint b acts on the parts link_part[first[b] .. first[b + 1] - 1].
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
    double *A, *X;            // directions, where they do not stand side by side in those of L; a F^-1 W, where the
                              // blocks of G are made
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

typedef enum carom_delassus_storage {
    CAROM_BY_COLUMNS,
    CAROM_BY_KEPT_COLUMNS,
    CAROM_BY_PRODUCTS,
    CAROM_BY_PARTS
} carom_delassus_storage;

typedef struct carom_delassus {
    // what was formed last
    carom_delassus_storage storage;
    const carom_local *W;
    const carom_factor *F;
    double a;
    int n;                       // rows
    long formed;                 // operators so far
    double *G;                   // n x n, column-major; by parts beyond carom_delassus_dense_rows() it is not there
    bool dense;                  // G is there
    bool whole;                  // G is dense at any size
    bool symmetric;              // exactly
    int ld;                      // from one column of G to the next: n, or less, where entries beyond `first` are not
                                 // there
    const int *first;            // row i and column i of G are zero before first[i]; NULL: not known

    // columns F^-1 W_k
    carom_columns sparse;        // of products
    carom_columns columns;       // of the rest, as many as there is room for
    int *column;                 // by row: its column; -1: not stored, reactions are applied by solving
    double *x;                   // nv
    carom_columns source;        // of a constant mass: W_k of the columns that are solved; a NULL: not remembered
    int sources;
    carom_products products[2];  // V and W have other rows; the same
    const carom_products *last;  // those of the last operator, if the same
    const carom_products *only;  // G is zero but for the entries of these, and for the first `written` numbers; NULL:
    size_t written;              // but for those

    // kept while F and W are constant
    bool keeps;                  // W is constant and large enough
    const carom_factor *F_kept;  // what is kept belongs to it; NULL: nothing yet
    long count;
    carom_responses keep;        // W'F^-1 W
    int stored;                  // columns in use
    int *slot;                   // by direction: its column, or -1 where it is not stored
    int *from;                   // by row: its direction

    carom_assembly parts;        // of worlds, whose mass couples parts only; x NULL: of no other
} carom_delassus;

/// For so many rows and constraints, of memory that is zero; whole: G is needed as a dense matrix at any size; keeps:
/// columns may be kept from operator to operator.
carom_delassus carom_allocate_delassus(carom_arena *mem, const carom_system *sys, int rows, int blocks, bool whole,
                                       bool keeps);

/// Rows up to which this system's operators are dense.
size_t carom_delassus_dense_rows(const carom_system *sys, size_t rows, bool whole);

/// (DLS-1)  formed, the number of an earlier operator, if not 0: where it was the last one, its F^-1 W is used; it had
///          the same F and columns of W, or those and more behind them.  blocks: by
/// parts, blocks beside the diagonal are made at once, else when carom_delassus_rows() needs them.  narrow: G may have
/// d->ld < n, as carom_problem.ld says.  d->keep has the
/// directions of all constraints, if the system's are constant and columns may be kept (kept).  parts: a solver needs G
/// by parts, at any size.  whole: by columns, both triangles of G are computed where V and W are the same, each with
/// its own rounding.  False: there is no room.
typedef struct carom_delassus_way {
    long formed;
    bool kept, blocks, parts, whole, narrow;
    struct carom_team *team;
} carom_delassus_way;
bool carom_delassus_form(carom_delassus *d, const carom_local *V, const carom_local *W, const carom_factor *F, double a,
                         carom_delassus_way way);

/// G by blocks, of parts; NULL: it is dense, or there is no room.
const carom_block_rows *carom_delassus_rows(carom_delassus *d, struct carom_team *team);

/// G, to be written by the caller, n x n numbers: the next operator relies on nothing that is there.
double *carom_delassus_matrix(carom_delassus *d, int n);

/// v += a F^-1 W p, from the first row on.
void carom_delassus_react(carom_delassus *d, double *v, double a, const double *p, int rows, struct carom_team *team);

/// The same as a primitive without storage of its own, for equations that are formed seldom: X = F^-1 W in place
/// (columns of nv numbers each), G = a V'X.  Row r of G is column row[r] of V; row NULL: r.  symmetric: V and W are the
/// same columns, and G is symmetric exactly.  F NULL: X is solved already.
void carom_delassus_dense(double *G, int n, double *X, const carom_columns *V, const int *row, const carom_factor *F,
                          double a, bool symmetric);
