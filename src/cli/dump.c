// dump.c: carom run --dump-problems: the hardest contact problems of a run, into a file that `carom solve` reads.
//
// Hard is what did not converge, then what needed the most fallback solvers, then the most iterations.
#include "cli/cli.h"
#include "io/problem_file.h"
#include <stdlib.h>

enum { KEPT = 10 }; // the hardest: chosen, as many as a person looks at

struct cli_dump {
    const char *file;
    carom_problem_list *list;
    carom_report report[KEPT]; // of the problems of the list
    int most;                  // problems to keep
    double *start;             // of the problem being solved
    int room;
    bool failed;
    carom_error err;
};

static bool harder(const carom_report *a, const carom_report *b) {
    if (a->converged != b->converged) return !a->converged;
    if (a->fallbacks != b->fallbacks) return a->fallbacks > b->fallbacks;
    return a->iterations > b->iterations;
}

static void keep_start(cli_dump *d, const carom_problem *pb) {
    if (pb->n > d->room) {
        double *more = realloc(d->start, (size_t)pb->n * sizeof *more);
        if (!more) {
            d->failed = true;
            return;
        }
        d->start = more;
        d->room = pb->n;
    }
    for (int i = 0; i < pb->n; ++i) d->start[i] = pb->p[i];
}

static void on_problem(void *user, double t, const carom_problem *pb, const carom_report *report) {
    cli_dump *d = user;
    if (d->failed) return;
    if (!report) {
        keep_start(d, pb);
        return;
    }
    int n = carom_problems_count(d->list), easiest = 0;
    for (int i = 1; i < n; ++i)
        if (harder(d->report + easiest, d->report + i)) easiest = i;
    if (n == d->most) {
        if (!harder(report, d->report + easiest)) return;
        carom_problems_remove(d->list, easiest);
        for (--n; easiest < n; ++easiest) d->report[easiest] = d->report[easiest + 1];
    }
    char title[160];
    snprintf(title, sizeof title, "t = %.9g: %s%s, %d iteration%s, %d fallback%s", t,
             report->converged ? "" : "not solved, ", report->solver, report->iterations,
             report->iterations == 1 ? "" : "s", report->fallbacks, report->fallbacks == 1 ? "" : "s");
    d->failed = carom_problems_add(d->list, pb, d->start, title, &d->err) != CAROM_OK;
    if (!d->failed) d->report[n] = *report;
}

cli_dump *cli_dump_begin(carom_sim *sim, const char *file) {
    cli_dump *d = calloc(1, sizeof *d);
    if (d) d->list = carom_problems_create();
    if (!d || !d->list) abort();
    d->file = file;
    d->most = carom_ends(file, ".h5") || carom_ends(file, ".hdf5") ? 1 : KEPT; // FCLIB has one problem a file
    carom_sim_watch_problems(sim, on_problem, d);
    return d;
}

bool cli_dump_end(cli_dump *d) {
    if (!d) return true;
    const int n = carom_problems_count(d->list);
    if (!d->failed && n > 0) d->failed = carom_problems_write(d->list, d->file, &d->err) != CAROM_OK;
    if (d->failed)
        cli_say("%s", d->err.text[0] ? d->err.text : "not enough memory for the problems of --dump-problems");
    else if (n == 0) cli_say("no contact problem was solved; %s is not written", d->file);
    const bool good = !d->failed;
    carom_problems_destroy(d->list);
    free(d->start);
    free(d);
    return good;
}
