// problem.h: the contact problem, and what a solver of it is.
//
//     u = G p + c,     law(u_b, p_b) for every block b                               (CP-1)
//
// u are local velocities (restitution is folded into c: u = u+ + e u-), p impulses.  The same problem
// serves for forces on velocity level (G carries a factor h) and for accelerations.  Laws:
//
//     CAROM_BILATERAL   u = 0                                                        (CP-2)
//     CAROM_UNILATERAL  0 <= u _|_ p >= 0                                            (CP-3)
//     CAROM_PLANAR      (CP-3) for the normal, |p_T| <= mu p_N, and                  (CP-4)
//                       p_T = -mu p_N u_T/|u_T| when u_T is not zero
//     CAROM_SPATIAL     the same with two tangential directions and a disc           (CP-5)
//     CAROM_BALL_3 .. 5 the same with three to five (rolling, spinning) and a ball
//
// A solver sees a problem, never the model.  Equations and solvers: docs/solvers.md.
#pragma once
#include <carom/arena.h>
#include <carom/option.h>
#include <carom/system.h> // CAROM_TANGENTS
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// From CAROM_UNILATERAL on every law has one tangential direction more than the one before.
typedef enum carom_law {
    CAROM_BILATERAL, CAROM_UNILATERAL, CAROM_PLANAR, CAROM_SPATIAL, CAROM_BALL_3, CAROM_BALL_4, CAROM_BALL_5, CAROM_LAWS
} carom_law;

typedef struct carom_block {
    carom_law law;
    int at;    // first row of the block; rows of a block: normal, then tangential
    double mu; // friction >= 0, from CAROM_PLANAR on; 0: frictionless, p_T = 0
} carom_block;

/// G by blocks, for many contacts: G_ij is zero unless contacts i and j act on the same body.  Block row b has the
/// blocks k = start[b] .. start[b + 1] - 1 in columns col[k], ascending, the diagonal block diagonal[b] always among
/// them.  Block k is column-major, rows of b times rows of col[k], and starts at value[at[k]]; blocks follow each other
/// without gaps.
typedef struct carom_block_rows {
    const int *start;    // nb + 1
    const int *col, *at; // start[nb]
    const int *diagonal; // nb
    const double *value;
    int uniform;         // all blocks have this number of rows; 0: they differ
} carom_block_rows;

/// The same symmetric matrix by bodies: G_ij = sum over the parts that i and j share of A_i F A_j', F = scale x
/// inverse.  A part is what one mass matrix couples, a body.  Contact b acts on the parts link_part[l], l = first[b] ..
/// first[b + 1] - 1; its directions there, rows of b times velocities of the part, start at A[link_at[l]], by rows.
/// link_body[l] numbers the parts that take part, from 0 to bodies - 1.  The inverse of part i starts at
/// inverse[inverse_at[i]], column-major.  The second half is needed where the problem has neither G nor `rows`.
typedef struct carom_parts {
    int bodies;
    int ld;                     // from one row of a link in A to the next; 0: as many numbers as the part has
                                // velocities
    const int *part;            // first velocity of each part, and the end
    const int *first, *link_part, *link_body;
    const size_t *link_at, *inverse_at;
    const double *A, *inverse;
    bool only_diagonal;         // inverses are diagonal, and `inverse` has nothing but their diagonals
    double scale;
    int nparts, max_rows;                 // parts; rows of the largest block
    const int *head, *next, *link_of; // links of each part, in the order of contacts: the first, the one after a link;
                                      // -1: none; contact of a link
    const double *diagonal;           // G_bb, column-major, from diagonal[max_rows x first row of b] on
    double *y;                        // two numbers for every velocity: scratch of the certificate
} carom_parts;

typedef struct carom_problem {
    int n, nb;                    // rows, blocks
    int ld;                       // leading dimension of G, column-major; G need not be symmetric.  ld < n: joints
                                  // alone, and G_ij = G[i + j ld] within `first`; entries beyond are not there
    const carom_block *block;     // nb, in order of rows, covering 0..n-1
    const double *G, *c;          // n x n, n; G may be NULL where `rows` is given
    /// By block: 0, 0: tangential rows share one ball; else the rows of the first, of the second, and the rest a third,
    /// each of radius mu p_N.  The certificate takes that into account; solvers get a problem that is split.  NULL: all
    /// share one.
    const int (*disc)[2];
    const carom_block_rows *rows; // the same matrix by blocks, for the certificate before G; NULL: not given
    const int *first;          // n; NULL: unknown: row i and column i of G are zero before first[i] <= i
    bool symmetric;            // G is known to be symmetric
    struct carom_team *team;   // threads that solvers may use; NULL: none
    const carom_parts *parts;  // the same matrix by bodies; NULL: not given
    /// Makes `rows` of `parts`, when a solver first needs them; false: there is no room.  NULL: they are given, or
    /// cannot be made.
    bool (*assemble)(struct carom_problem *pb);
    void *assembly;            // for that function
    const double *lever;       // n: lengths by which rows of joints count in the certificate; NULL: 1
    double acceptable;         // residual that the caller accepts: no expensive solver is tried below it; 0: none
    double *p, *u;             // n: p is the start on entry (zeros are fine) and the answer on exit; u = G p + c
    bool improve;              // correct also a start that is within the tolerance (SOL-31)
} carom_problem;

typedef struct carom_report {
    bool converged;     // residual within tolerance, see carom_solver_solve(); of a bare solve(): by its own measure
    int iterations;     // of all solvers tried
    double residual;    // carom_residual() of the answer
    int worst_block;    // block with the largest residual; -1: there is no block
    int fallbacks;      // solvers tried before the one that is named
    const char *solver; // whose answer it is
} carom_report;

/// The certificate: largest violation of (CP-2)..(CP-5) in velocity units, from u = G p + c computed
/// afresh (also stored in pb->u).  No solver shares this code.  *worst_block (NULL allowed) is the block.
/// Infinity when a number of the problem or the answer is not finite, or mu is negative.
double carom_residual(const carom_problem *pb, int *worst_block);

/// The same for the velocities in pb->u: where equations are nonlinear, u follows from them and G p + c is
/// only its linearisation.
double carom_residual_at(const carom_problem *pb, int *worst_block);

/// The dense matrix of pb->rows into G, with leading dimension ld.
void carom_problem_expand(const carom_problem *pb, double *G, int ld);

/// A solver improves the p that it is given.  Its work is scratch: nothing in it survives a solve, so
/// that all solvers of a chain use the same memory.  Same problem, same start: same bits.
typedef struct carom_solver {
    const char *name, *about;
    unsigned laws;  // mask of (1u << law) it can handle; a block with mu = 0 counts as unilateral
    bool sparse;    // it can do with G by blocks; else it reads the dense G
    bool parts;     // it needs G by bodies
    int max_blocks; // maximum useful number of unilateral blocks; 0: no limit
    int max_rows;   // maximum useful number of rows; 0: no limit
    /// For problems up to this size.  work is a place of work_size bytes also while mem only counts.
    void (*allocate)(void *work, carom_arena *mem, int n, int nb);
    size_t work_size; // at most CAROM_SOLVER_WORK
    /// Sets pb->p and reports convergence and iterations; the caller checks the residual.
    carom_report (*solve)(void *work, carom_problem *pb, double tol);
    /// Right after it, where the certificate has left more than half of tol in pb->u: p once more, from what solve()
    /// has factorised.  False: it cannot.  NULL: there is nothing to refine.
    bool (*refine)(void *work, carom_problem *pb);
} carom_solver;

enum { CAROM_SOLVER_WORK = 1024, CAROM_DENSE_ROWS = 600 };

const carom_solver *carom_solver_find(const char *name);
const carom_solver *carom_solver_at(int i); // NULL after the last

/// One solver and the certificate of its answer: all fields of the report, pb->p and pb->u.  Converged: the residual
/// (velocity units) is at most tol, or no more than rounding of G p + c leaves (CP-9, CP-10).
carom_report carom_solver_solve(const carom_solver *solver, void *work, carom_problem *pb, double tol);

/// The chain: the given solver (NULL: the default for size and laws), then the others that can, until
/// one is good enough.  An answer that is not is returned with converged = false and is the best of all.
/// The first solver starts from the p of the caller, the others from the best answer so far.  For problems of up to n
/// rows and nb blocks, with up to `rigid` joints.  G may be given by blocks; up to CAROM_DENSE_ROWS
/// rows solvers that need the dense matrix get a dense view.
typedef struct carom_chain carom_chain;
// NULL while counting
carom_chain *carom_allocate_chain(carom_arena *mem, int n, int nb, int rigid, const carom_solver *first);
carom_report carom_chain_solve(carom_chain *chain, carom_problem *pb, double tol);

/// Is it certain that no p has a residual of at most tol (velocity units)?  Then y (n) is a proof (INF-2).  False: none
/// was found; the problem may have a solution or not.  Up to CAROM_DENSE_ROWS rows; it allocates memory.
bool carom_infeasible(carom_problem *pb, double tol, double *y);

#ifdef __cplusplus
}
#endif
