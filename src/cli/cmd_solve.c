// cmd_solve.c: carom solve: contact problems from a file, without a model.
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "cli/cli.h"
#include "io/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double CERTIFIED = 1e-12; // of the largest |c|: what direct solvers reach

static const cli_option options[] = {
    {"solver", 0, "NAME",
     "solver to try first: direct, joints, enumerate, lemke, newton, hybrid, gauss-seidel, prox or homotopy (default: "
     "by size and kind)",
     false},
    {"tol", 0, "X", "residual allowed, relative to the largest |c| (default 1e-12)", false},
    {"problem", 0, "N", "solve the N-th problem of the file alone (from 1; default: all)", false},
    {"cold", 0, NULL, "cold start: ignore an initial guess in the file", false},
    {"repeat", 0, "N",
     "solve N times from the same start and N times from the solution; print minimum and median CPU time", false},
    {"out", 'o', "FILE",
     "solution: .h5 or .hdf5 (FCLIB, with the problem), else CSV with the columns block,row,u,p; one problem only",
     false},
    {"json", 0, NULL, "{converged, residual, iterations, solver, seconds} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

enum { MOST_REPEATS = 1000000 }; // a safeguard against mistakes: their times take 8 MB

/// CPU seconds of repeated solutions.
typedef struct { double least, median; } timing;
typedef struct {
    carom_report report;
    double seconds, speed;
    bool infeasible;     // proved
    int clash[3], clashes; // blocks with the largest weights in the proof
    int repeats;         // 0: not asked for
    timing cold, warm;   // from the start given, from the solution
} outcome;

static const char *solver_name(const void *user, int i) {
    (void)user;
    return carom_solver_at(i) ? carom_solver_at(i)->name : NULL;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double one_solution(carom_chain *chain, carom_problem *pb, double tol, carom_report *report) {
    const double start = carom_seconds(CLOCK_THREAD_CPUTIME_ID);
    *report = carom_chain_solve(chain, pb, tol);
    return carom_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

// n solutions from `start`, each; `list` has room for n numbers
static timing repeat(carom_chain *chain, carom_problem *pb, double tol, const double *start, double *list, int n) {
    carom_report ignored;
    for (int k = 0; k < n; ++k) {
        memcpy(pb->p, start, (size_t)pb->n * sizeof *start);
        list[k] = one_solution(chain, pb, tol, &ignored);
    }
    qsort(list, (size_t)n, sizeof *list, ascending);
    return (timing){list[0], 0.5 * (list[(n - 1) / 2] + list[n / 2])};
}

// The blocks that a proof weighs most, the first of equals first.
static void find_clash(const carom_problem *pb, const double *y, outcome *o) {
    enum { MOST = sizeof o->clash / sizeof *o->clash };
    for (o->clashes = 0; o->clashes < MOST; ++o->clashes) {
        int next = -1;
        for (int b = 0; b < pb->nb; ++b) {
            bool known = y[pb->block[b].at] == 0;
            for (int k = 0; k < o->clashes; ++k) known = known || o->clash[k] == b;
            if (!known && (next < 0 || fabs(y[pb->block[b].at]) > fabs(y[pb->block[next].at]))) next = b;
        }
        if (next < 0) return;
        o->clash[o->clashes] = next;
    }
}

// The solution stays in pb; false: no memory.
static bool solve_with(carom_chain *chain, carom_problem *pb, double tol, int repeats, outcome *o) {
    const size_t n = (size_t)pb->n;
    double *start = calloc(3 * n + (size_t)repeats + 1, sizeof *start), *p = start + n, *y = p + n, *list = y + n;
    if (!start) return false;
    memcpy(start, pb->p, n * sizeof *start);
    o->seconds = one_solution(chain, pb, tol, &o->report);
    memcpy(p, pb->p, n * sizeof *p);
    o->infeasible = !o->report.converged && carom_infeasible(pb, tol, y);
    if (o->infeasible) find_clash(pb, y, o);
    o->repeats = repeats;
    if (repeats) o->cold = repeat(chain, pb, tol, start, list, repeats);
    if (repeats) o->warm = repeat(chain, pb, tol, p, list, repeats);
    memcpy(pb->p, p, n * sizeof *p);
    if (repeats) o->report.residual = carom_residual(pb, &o->report.worst_block); // u of that solution
    free(start);
    return true;
}

// Everything of one problem; false: no memory.
static bool solve(carom_problem *pb, const carom_solver *first, double tol, int repeats, outcome *o) {
    // solvers of joints alone need the dense matrix
    const int rigid = pb->n < CAROM_DENSE_ROWS ? pb->n : CAROM_DENSE_ROWS;
    carom_arena mem = {0};
    carom_allocate_chain(&mem, pb->n, pb->nb, rigid, first);
    mem = (carom_arena){.base = aligned_alloc(64, (mem.used + 127) / 64 * 64), .size = mem.used};
    if (!mem.base) return cli_say("not enough memory for a contact problem of %d rows", pb->n), false;
    carom_chain *chain = carom_allocate_chain(&mem, pb->n, pb->nb, rigid, first);
    o->speed = 0;
    for (int i = 0; i < pb->n; ++i) o->speed = fmax(o->speed, fabs(pb->c[i]));
    if (!(o->speed > 0)) o->speed = 1;
    o->report = (carom_report){.converged = true, .worst_block = -1, .solver = "none"};
    const bool good = pb->n == 0 || solve_with(chain, pb, tol * o->speed, repeats, o);
    if (!good) cli_say("not enough memory for a contact problem of %d rows", pb->n);
    free(mem.base);
    return good;
}

static void print_timing(const char *name, timing t) {
    carom_json(stdout, "%s: {\"minimum\": %g, \"median\": %g}", name, t.least, t.median);
}

static void print_members(const outcome *o) {
    const carom_report *r = &o->report;
    carom_json(stdout, "\"converged\": %i, \"residual\": %g, \"iterations\": %d, \"solver\": %s, \"seconds\": %g, ",
               r->converged, r->residual / o->speed, r->iterations, r->solver, o->seconds);
    carom_json(stdout, "\"residual_velocity\": %g, \"worst\": %d, \"fallbacks\": %d, \"infeasible\": %i", r->residual,
               r->worst_block, r->fallbacks, o->infeasible);
    if (o->repeats == 0) return;
    printf(", \"repeat\": {\"count\": %d, ", o->repeats), print_timing("start", o->cold);
    fputs(", ", stdout), print_timing("warm", o->warm), putchar('}');
}

// One object: of the only problem, or of all together with a list of them.
static void print_json(const outcome *o, int n) {
    outcome all = o[0];
    for (int i = 1; i < n; ++i) {
        if (!(o[i].report.residual / o[i].speed <= all.report.residual / all.speed))
            all.report.residual = o[i].report.residual, all.report.worst_block = o[i].report.worst_block,
            all.speed = o[i].speed;
        if (strcmp(o[i].report.solver, all.report.solver) != 0) all.report.solver = "several";
        all.report.converged = all.report.converged && o[i].report.converged;
        all.report.iterations += o[i].report.iterations;
        all.report.fallbacks += o[i].report.fallbacks;
        all.seconds += o[i].seconds;
        all.infeasible = all.infeasible || o[i].infeasible;
        all.cold = (timing){all.cold.least + o[i].cold.least, all.cold.median + o[i].cold.median};
        all.warm = (timing){all.warm.least + o[i].warm.least, all.warm.median + o[i].warm.median};
    }
    fputs("{", stdout);
    print_members(&all);
    for (int i = 0; n > 1 && i < n; ++i) {
        fputs(i ? "},\n  {" : ",\n \"problems\": [\n  {", stdout);
        print_members(o + i);
    }
    puts(n > 1 ? "}]}" : "}");
}

static void print_text(const carom_problem *pb, const char *title, int number, const outcome *o) {
    int contacts = 0;
    for (int b = 0; b < pb->nb; ++b) contacts += pb->block[b].law != CAROM_BILATERAL;
    cli_print("problem %d%s%s%s: %d contact%s, %d equation%s\n", number, title[0] ? " (" : "", title,
              title[0] ? ")" : "", contacts, contacts == 1 ? "" : "s", pb->nb - contacts,
              pb->nb - contacts == 1 ? "" : "s");
    printf("  %-12s %s, %d iteration%s, %.3g s\n",
           o->report.converged ? "solved"
           : o->infeasible     ? "infeasible"
                               : "not solved",
           o->report.solver, o->report.iterations, o->report.iterations == 1 ? "" : "s", o->seconds);
    printf("  %-12s %.3g of the largest |c|; %.3g as a velocity", "residual", o->report.residual / o->speed,
           o->report.residual);
    if (o->report.worst_block >= 0) printf(", at block %d", o->report.worst_block);
    putchar('\n');
    if (o->repeats == 0) return;
    printf("  %-12s minimum %.3g s, median %.3g s in %d solutions from the same start\n", "time", o->cold.least,
           o->cold.median, o->repeats);
    printf("  %-12s minimum %.3g s, median %.3g s in %d solutions from the solution\n", "warm", o->warm.least,
           o->warm.median, o->repeats);
}

static bool read_usage(const cli_args *a, const carom_solver **first, double *tol, double *which, double *repeats) {
    const char *name = cli_value(a, "solver");
    *tol = CERTIFIED;
    *which = *repeats = 0;
    *first = NULL;
    if (!cli_positive(a, "tol", tol) || !cli_positive(a, "problem", which) || !cli_positive(a, "repeat", repeats))
        return false;
    if (*tol > 1) return cli_say("--tol: %s is above 1; it is relative to the largest |c|", cli_value(a, "tol")), false;
    if (*which != floor(*which))
        return cli_say("--problem: expected an integer, got %s", cli_value(a, "problem")), false;
    if (*repeats != floor(*repeats) || *repeats > MOST_REPEATS)
        return cli_say("--repeat: expected an integer from 1 to %d, got %s", MOST_REPEATS, cli_value(a, "repeat")),
               false;
    if (!name || strcmp(name, "auto") == 0) return true;
    if ((*first = carom_solver_find(name))) return true;
    char hint[96];
    cli_say("unknown solver '%s'%s", name, cli_suggest(hint, sizeof hint, name, solver_name, NULL));
    fputs("`carom help solve` lists them\n", stderr);
    return false;
}

static int solve_all(const cli_args *a, carom_problem_list *list, int from, int n, const carom_solver *first,
                     double tol, int repeats) {
    outcome *o = calloc((size_t)n + 1, sizeof *o);
    const char *out = cli_value(a, "out");
    int code = o ? CLI_DONE : CLI_FAILED;
    for (int i = 0; code != CLI_FAILED && i < n; ++i) {
        carom_problem *pb = carom_problems_at(list, from + i);
        for (int k = 0; cli_has(a, "cold") && k < pb->n; ++k) pb->p[k] = 0;
        if (!solve(pb, first, tol, repeats, o + i)) code = CLI_FAILED;
        else if (!cli_has(a, "json") && !cli_has(a, "quiet"))
            print_text(pb, carom_problems_title(list, from + i), from + i + 1, o + i);
    }
    if (code == CLI_DONE && cli_has(a, "json")) print_json(o, n);
    carom_error err = {0};
    if (code == CLI_DONE && out && carom_problem_write_answer(carom_problems_at(list, from), out, &err) != CAROM_OK) {
        cli_say("%s", err.text);
        code = err.code == CAROM_BAD_INPUT ? CLI_USAGE : CLI_FAILED;
    }
    for (int i = 0; code == CLI_DONE && i < n; ++i)
        if (o[i].infeasible) {
            char blocks[64] = "";
            for (int k = 0, used = 0; k < o[i].clashes; ++k)
                used += snprintf(blocks + used, sizeof blocks - (size_t)used, "%s%d", k ? ", " : "", o[i].clash[k]);
            cli_say("%s: problem %d is infeasible: its constraints contradict each other (largest weights in the "
                    "proof: block %s)",
                    a->word[0], from + i + 1, blocks);
            code = CLI_FAILED;
        } else if (!o[i].report.converged) {
            cli_say("%s: problem %d was not solved: residual %.3g, allowed %.3g; if it has a solution, a larger --tol "
                    "or another --solver may find it",
                    a->word[0], from + i + 1, o[i].report.residual / o[i].speed, tol);
            code = CLI_FAILED;
        }
    free(o);
    return code;
}

static int run(const cli_args *a) {
    const carom_solver *first;
    double tol, which, repeats;
    if (!read_usage(a, &first, &tol, &which, &repeats)) return CLI_USAGE;
    carom_error err = {0};
    carom_problem_list *list = carom_problems_read(a->word[0], &err);
    if (!list) return cli_say("%s", err.text), CLI_USAGE;
    const int count = carom_problems_count(list), from = which > 0 ? (int)fmin(which, 1e9) - 1 : 0,
              n = which > 0 ? 1 : count;
    int code = CLI_USAGE;
    if (from >= count)
        cli_say("%s has %d problem%s; --problem %s is not among them", a->word[0], count, count == 1 ? "" : "s",
                cli_value(a, "problem"));
    else if (cli_has(a, "out") && n > 1)
        cli_say("%s has %d problems and --out writes one solution; choose one with --problem N", a->word[0], count);
    else code = solve_all(a, list, from, n, first, tol, (int)repeats);
    carom_problems_destroy(list);
    return code;
}

const cli_verb cli_solve = {
    .name = "solve",
    .arguments = "PROBLEM",
    .about = "solve a contact problem from a file: solution, residual, solver, time",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "PROBLEM is an FCLIB file (HDF5; local, or global with its velocities eliminated), carom's own text form "
            "(as `carom run --dump-problems`\n"
            "writes it), or FC01. Exit status 1: no solution within the tolerance was found; the best one is reported "
            "and written.\n"
            "A problem is reported as infeasible where carom has a proof that no solution exists.",
};
