// cmd_sweep.c: carom sweep: many runs of one model, one result file.
//
// While it runs, rows go to FILE.journal, which survives whatever happens; FILE itself appears when all runs are done.
// Under mpirun all this is the work of rank 0.  The others get the sweep, chains of runs to do, and send back rows.
#define _POSIX_C_SOURCE 200809L
#include "base/grow.h"
#include "cli/figure.h"
#include "cli/ranks.h"
#include "cli/sweep_plot.h"
#include "cli/sweep_words.h"
#include "io/table.h"
#include "mech/mech.h"
#include "sweep/book.h"
#include "sweep/shards.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const cli_option options[] = {
    SWEEP_OPTIONS,
    {"follow", 0, "up|down|both", "start each run from the final state of its neighbour along the last --vary", false},
    {"jobs", 0, "N", "threads (default: as many as there are cores; under mpirun one for each rank)", false},
    {"lanes", 0, "auto|on|off",
     "run many systems per SIMD vector: off (default), on, or auto: where model and scheme allow it; results agree "
     "with those of single runs up to rounding",
     false},
    {"gpu", 0, NULL, "lanes on a GPU, compiled by $CAROM_NVCC or nvcc", false},
    {"part", 0, "I/N", "only part I of N, into an .h5 file; `carom merge` joins the parts", false},
    SWEEP_RUN_OPTIONS,
    CLI_MODEL,
    {"start", 0, "FILE",
     "initial state of all runs, from `carom equilibrium --save FILE` or from the last row of a result", false},
    {"adaptive", 0, NULL, "step sizes from error estimates", false},
    {"rtol", 0, "X", "tolerance relative to each coordinate and rate", false},
    {"atol", 0, "X", "absolute tolerance", false},
    {"out", 'o', "FILE",
     "result: .h5 (default: the model's file name with .sweep.h5, in this directory) or .csv (section points go to "
     "FILE.section.csv)",
     false},
    {"plot", 0, "FILE", "plot of the result: .svg, .png or .pdf", false},
    {"resume", 0, "FILE", "resume the interrupted sweep that writes FILE", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct sweep {
    const cli_args *a;       // what this sweep is: as typed, or as the journal has it
    char *out, *journal;
    char *text;              // the model
    size_t length;
    sweep_words words;
    char *own;               // texts of the model's section `sweep`
    cli_matrices matrices;
    double *start;           // --start
    carom_sweep_def def;
    carom_sweep *s;
    carom_journal *book;
    char *definition;
    size_t definition_length;
    bool quiet, stopped, failed;
    double flushed, began, shown;
    long before;             // rows there at the start
    int rank, ranks;         // of MPI
    int shared;              // what the other ranks have got: the sweep, the rows that are there
    bool running;
    ranks_serve serve;
    carom_error err;
} sweep;

// -- what is wanted -----------------------------------------------------------------------------------------------

static bool read_usage(sweep *k, const cli_args *typed) {
    const char *plot = cli_has(typed, "plot") ? cli_value(typed, "plot") : cli_value(k->a, "plot");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = cores > 0 && k->ranks == 1 ? cores : 1;
    k->quiet = cli_has(typed, "quiet");
    if (!gnuplot_takes(plot)) return false;
    if (k->rank == 0 && !cli_writable(plot)) return false;
    if (!sweep_words_read(k->a, &k->words, &k->def) || !cli_whole(typed, "jobs", 1024, &jobs)) return false;
    k->def.jobs = (int)jobs;
    return true;
}

static bool create(sweep *k) {
    k->def.model.text = k->text;
    k->def.model.length = k->length;
    if (!cli_matrices_read(k->a, &k->matrices)) return false;
    k->def.model.matrices = k->matrices.list;
    k->def.model.nmatrices = k->matrices.n;
    if (cli_has(k->a, "start")) {
        carom_model *m = carom_model_create(&k->def.model, &k->err);
        if (!m) return cli_say("%s", k->err.text), false;
        k->def.start = k->start = cli_state(m, cli_value(k->a, "start"));
        if (k->start) k->def.signals = k->start + carom_model_system(m)->nq + carom_model_system(m)->nv;
        carom_model_destroy(m);
        if (!k->start) return false;
    }
    k->s = carom_sweep_create(&k->def, &k->err);
    if (!k->s) cli_say("%s", k->err.text);
    return k->s != NULL;
}

// -- the journal: every word as typed, and the model's text -----------------------------------------------------------

static void append(carom_text *b, const void *from, size_t n) {
    carom_text_append(b, from, n);
    if (b->failed) abort();
}

// May an option be another one when the sweep goes on?  --plot may, too, but is kept.
static bool is_apart(const char *name) {
    static const char *const apart[] = {"jobs", "quiet", "plot", "out", "resume"};
    bool found = false;
    for (size_t e = 0; e < sizeof apart / sizeof *apart; ++e) found = found || strcmp(name, apart[e]) == 0;
    return found;
}

// "--name\0value\0" ... "\0" model file "\0" text.  What may differ when it goes on is left out.
static void define(sweep *k) {
    carom_text b = {0};
    for (int i = 0; i < k->a->ngiven; ++i) {
        const cli_option *o = &k->a->verb->options[k->a->given[i].option];
        if (is_apart(o->name) && strcmp(o->name, "plot") != 0) continue;
        append(&b, "--", 2);
        append(&b, o->name, strlen(o->name) + 1);
        if (o->value) append(&b, k->a->given[i].value, strlen(k->a->given[i].value) + 1);
    }
    append(&b, "", 1);
    append(&b, k->a->word[0], strlen(k->a->word[0]) + 1);
    append(&b, k->text, k->length);
    k->definition = b.at;
    k->definition_length = b.n;
}

// Words of a definition as arguments; false: it is damaged.
static bool undefine(sweep *k, const cli_verb *verb, cli_args *a) {
    size_t n = 0, at = 0;
    const size_t length = k->definition_length;
    char **word = calloc(length + 2, sizeof *word);
    if (!word) abort();
    while (at < length && k->definition[at]) word[n++] = k->definition + at, at += strlen(k->definition + at) + 1;
    bool good = at + 1 < length && memchr(k->definition + at + 1, 0, length - at - 1), help = false;
    if (good) {
        word[n++] = k->definition + at + 1;
        at += strlen(k->definition + at + 1) + 2;
        k->length = length - at;
        k->text = calloc(k->length + 1, 1);
        if (!k->text) abort();
        memcpy(k->text, k->definition + at, k->length);
        good = cli_parse(a, verb, (int)n, word, &help);
    }
    free(word);
    if (!good) cli_say("%s: the start of the sweep is missing", k->journal);
    return good;
}

static char *with_ending(const char *file, const char *ending) {
    char *name = malloc(strlen(file) + strlen(ending) + 1);
    if (!name) abort();
    return strcat(strcpy(name, file), ending);
}

static bool name_files(sweep *k, const cli_args *typed) {
    static const char *const endings[] = {".yaml", ".yml", NULL};
    const char *given = cli_has(typed, "resume") ? cli_value(typed, "resume") : cli_value(typed, "out");
    k->out = given ? with_ending(given, "") : cli_rename(typed->word[0], endings, ".sweep.h5");
    if (!carom_ends(k->out, ".h5") && !carom_ends(k->out, ".csv"))
        return cli_say("'%s' ends neither in .h5 nor in .csv", k->out), false;
    if (cli_has(typed, "plot") && !carom_ends(k->out, ".h5"))
        return cli_say("--plot: plots are made from .h5 sweeps; give --out FILE.h5"), false;
    k->journal = with_ending(k->out, ".journal");
    return true;
}

// -- other ranks ------------------------------------------------------------------------------------------------------

// Bytes of rank 0 to the others, which free them; none: the sweep does not begin.  false: then, or when one of them
// gave up.
static bool share(sweep *k, void **bytes, size_t *n) {
    ++k->shared;
    return ranks_share(bytes, n) && *n > 0;
}

// Runs that are there: how many, then the number and the end of each.
static bool share_rows(sweep *k) {
    carom_text b = {0};
    carom_sweep_row row;
    if (k->ranks == 1) return true;
    append(&b, &k->before, sizeof k->before);
    for (long run = 0; run < carom_sweep_runs(k->s) && k->before; ++run) {
        if (!carom_journal_row(k->book, run, &row)) continue;
        append(&b, &run, sizeof run);
        append(&b, row.end, (size_t)carom_sweep_state(k->s) * sizeof *row.end);
    }
    const bool good = share(k, (void **)&b.at, &b.n);
    free(b.at);
    return good;
}

static void skip_rows(sweep *k, const char *at) {
    const size_t state = (size_t)carom_sweep_state(k->s);
    double *end = malloc((state + 1) * sizeof *end);
    long n, run;
    if (!end) abort();
    memcpy(&n, at, sizeof n), at += sizeof n;
    for (; n > 0; --n) {
        memcpy(&run, at, sizeof run), at += sizeof run;
        memcpy(end, at, state * sizeof *end), at += state * sizeof *end;
        carom_sweep_skip(k->s, run, end);
    }
    free(end);
}

// The sweep to the others; are all of them ready?
static bool share_sweep(sweep *k) {
    if (k->ranks == 1) return true;
    if (share(k, (void **)&k->definition, &k->definition_length) && ranks_agree(true)) return true;
    cli_say("another MPI rank failed to start; nothing was computed");
    k->shared = 2;
    return false;
}

static bool give(void *user, long *first, long *last) {
    sweep *k = user;
    return k->running && carom_sweep_give(k->s, k->ranks, first, last);
}

static void on_rank_failed(void *user, const char *why) {
    sweep *k = user;
    cli_say("%s", why);
    k->failed = true;
}

static void on_rank_row(void *user, const unsigned char *bytes, size_t n) {
    sweep *k = user;
    carom_sweep_row row;
    if (!carom_row_unpack(k->s, bytes, n, &row))
        on_rank_failed(k, "a rank has sent a row that is not one of this sweep");
    else if (k->running) carom_sweep_accept(k->s, &row);
    else if (!carom_journal_add(k->book, &row)) k->failed = true;
}

// Rows that are on their way.  Where the sweep was stopped, a rank may be in the middle of a long run: it is not waited
// for.
static void wait_for_ranks(sweep *k, bool stopped) {
    const double began = cli_clock();
    carom_error later; // conclude() tries again and says what is wrong
    if (stopped) carom_journal_flush(k->book, &later);
    while (k->serve.left < k->ranks - 1 && !(stopped && cli_clock() - began > 0.3)) {
        ranks_answer(&k->serve);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    k->stopped = k->stopped || cli_signals_take();
}

static bool send_row(void *user, const carom_sweep_row *row) {
    sweep *k = user;
    size_t n = 0;
    unsigned char *bytes = carom_row_pack(k->s, row, &n);
    const bool good = bytes && ranks_send_row(bytes, n);
    free(bytes);
    return good;
}

static bool fetch(void *user, long *first, long *last) { return (void)user, ranks_fetch(first, last); }
static bool go_on_until_signal(void *user, long done, long total) {
    return (void)user, (void)done, (void)total, !cli_signals_take();
}

static bool undefine(sweep *k, const cli_verb *verb, cli_args *a);

// What the other ranks do.
static int help_rank_0(sweep *k, const cli_args *typed, cli_args *stored) {
    char *rows = NULL;
    size_t n = 0;
    if (!share(k, (void **)&k->definition, &k->definition_length)) return CLI_DONE; // rank 0 says why
    k->a = stored;
    const bool good = undefine(k, typed->verb, stored) && read_usage(k, typed) && create(k);
    if (!ranks_agree(good)) return good ? CLI_DONE : CLI_FAILED;
    if (share(k, (void **)&rows, &n)) {
        skip_rows(k, rows);
        const carom_sweep_watch watch = {.user = k, .row = send_row, .tick = go_on_until_signal, .fetch = fetch};
        cli_signals_begin();
        const carom_status status = carom_sweep_run(k->s, &watch, &k->err);
        ranks_leave(carom_sweep_alone(k->s), status == CAROM_OK ? NULL : k->err.text);
        cli_signals_end();
    }
    free(rows);
    return CLI_DONE;
}

// -- the run ----------------------------------------------------------------------------------------------------------

static bool on_row(void *user, const carom_sweep_row *row) {
    sweep *k = user;
    if (carom_journal_add(k->book, row)) return true;
    k->failed = true;
    return false;
}

static void show(sweep *k, long done, long total) {
    const double spent = cli_clock() - k->began;
    // a short run needs no line; ten a second
    if (k->quiet || !isatty(STDERR_FILENO) || spent < 0.3 || cli_clock() - k->shown < 0.1) return;
    k->shown = cli_clock();
    const double rate = (double)done / spent;
    fprintf(stderr, "\r%ld of %ld runs, %.3g runs/s, %.0f s left   ", done, total, rate,
            rate > 0 ? (double)(total - done) / rate : 0);
    fflush(stderr);
}

static bool on_tick(void *user, long done, long total) {
    sweep *k = user;
    if (k->ranks > 1) ranks_answer(&k->serve);
    k->stopped = cli_signals_take() || k->stopped;
    if (cli_clock() - k->flushed > 0.5) {
        k->flushed = cli_clock();
        if (carom_journal_flush(k->book, &k->err) != CAROM_OK) k->failed = true;
    }
    show(k, done, total);
    return !k->stopped && !k->failed;
}

static int write_result(sweep *k) {
    carom_table tables[2] = {{0}, {0}};
    int n = 0;
    char runs[32];
    snprintf(runs, sizeof runs, "%ld", carom_sweep_runs(k->s));
    char *name = figure_model_name(k->def.model.text); // for the title of a picture
    const carom_table_note notes[] = {
        {"carom", CAROM_VERSION}, {"kind", "sweep"}, {"runs", runs}, {"name", name ? name : ""}};
    carom_status status = carom_journal_tables(k->book, tables, &n, &k->err);
    carom_mech *mech = carom_mech_read(k->def.model.text, k->def.model.length, k->out, NULL);
    const carom_table_units units = {carom_mech_column_unit, mech};
    if (status == CAROM_OK) status = carom_tables_write_units(k->out, tables, n, notes, 4, &units, &k->err);
    carom_mech_destroy(mech);
    free(name);
    for (int i = 0; i < 2; ++i) carom_table_free(&tables[i]);
    if (status != CAROM_OK) {
        cli_say("%s; the runs are in %s: continue with --resume %s", k->err.text, k->journal, k->out);
        return CLI_FAILED;
    }
    carom_journal_remove(k->book);
    return CLI_DONE;
}

static int conclude(sweep *k, carom_status status, const cli_args *typed) {
    const carom_error why = k->err;
    carom_error err;
    if (status == CAROM_OK) {
        const int code = write_result(k);
        long run = 0;
        const char *first = carom_journal_message(k->book, &run);
        if (code == CLI_DONE && !k->quiet)
            cli_print("%ld run%s in %s\n", carom_journal_rows(k->book), carom_journal_rows(k->book) == 1 ? "" : "s",
                      k->out);
        const long alone = carom_sweep_alone(k->s) + k->serve.alone;
        if (code == CLI_DONE && !k->quiet && alone > 0)
            printf("%ld of them one by one: lanes do not support them\n", alone);
        if (code == CLI_DONE && first)
            cli_say("%ld of %ld runs failed; the first, run %ld: %s", carom_journal_failed(k->book),
                    carom_journal_rows(k->book), run, first);
        const char *plot = cli_has(typed, "plot") ? cli_value(typed, "plot") : cli_value(k->a, "plot");
        if (code == CLI_DONE && plot) return sweep_plot(k->out, NULL, plot);
        return code;
    }
    if (carom_journal_flush(k->book, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
    if (!k->stopped && !k->failed) cli_say("%s", why.text);
    cli_say("%ld of %ld runs %s saved; continue with: carom sweep --resume %s", carom_journal_rows(k->book),
            carom_sweep_runs(k->s), carom_journal_rows(k->book) == 1 ? "is" : "are", k->out);
    return k->stopped ? CLI_INTERRUPTED : CLI_FAILED;
}

static int run(sweep *k, const cli_args *typed) {
    if (carom_journal_bind(k->book, k->s, &k->err) != CAROM_OK) return cli_say("%s", k->err.text), CLI_FAILED;
    k->before = carom_journal_rows(k->book);
    if (k->before && !k->quiet) cli_say("%ld run%s already done", k->before, k->before == 1 ? " is" : "s are");
    if (!share_rows(k)) return cli_say("another MPI rank failed to start; nothing was computed"), CLI_FAILED;
    k->serve = (ranks_serve){.user = k, .give = give, .row = on_rank_row, .failed = on_rank_failed};
    const carom_sweep_watch watch = {.user = k, .row = on_row, .tick = on_tick, .often = k->ranks > 1};
    k->began = k->flushed = cli_clock();
    cli_signals_begin();
    k->running = true;
    const carom_status status = carom_sweep_run(k->s, &watch, &k->err);
    k->running = false;
    wait_for_ranks(k, status != CAROM_OK);
    cli_signals_end();
    if (!k->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    return conclude(k, status, typed);
}

static bool exists(const char *file) {
    struct stat s;
    return stat(file, &s) == 0;
}

static int begin_new(sweep *k, const cli_args *typed, cli_args *all) {
    if (typed->n == 0) return cli_say("sweep needs a model; usage: carom sweep %s", typed->verb->arguments), CLI_USAGE;
    if (cli_wants_model(typed->word[0])) return CLI_USAGE;
    k->text = cli_read_file(typed->word[0], &k->length);
    if (!k->text || !sweep_words_join(typed, typed->verb, k->text, k->length, all, &k->own)) return CLI_USAGE;
    typed = k->a = all; // with what the model says
    if (!name_files(k, typed) || !cli_writable(k->out) || !read_usage(k, typed) || !create(k)) return CLI_USAGE;
    if (cli_has(typed, "part") && !carom_ends(k->out, ".h5"))
        return cli_say("--part: `carom merge` reads .h5 files; give --out PART.h5 (merge can write a .csv)"), CLI_USAGE;
    define(k);
    if (!share_sweep(k)) return CLI_FAILED;
    k->book = carom_journal_create(k->journal, k->definition, k->definition_length, &k->err);
    if (!k->book) return cli_say("%s", k->err.text), k->err.code == CAROM_NO_MEMORY ? CLI_FAILED : CLI_USAGE;
    return run(k, typed);
}

static int plot_complete(const sweep *k, const cli_args *typed) {
    const char *plot = cli_value(typed, "plot");
    if (!plot) return CLI_DONE;
    return gnuplot_takes(plot) && cli_writable(plot) ? sweep_plot(k->out, NULL, plot) : CLI_USAGE;
}

static int go_on(sweep *k, const cli_args *typed, cli_args *stored) {
    if (typed->n > 0) return cli_say("--resume FILE contains its model; leave %s out", typed->word[0]), CLI_USAGE;
    for (int i = 0; i < typed->ngiven; ++i) {
        const char *name = typed->verb->options[typed->given[i].option].name;
        if (!is_apart(name))
            return cli_say("--resume continues with the options of the sweep; leave --%s out", name),
                   CLI_USAGE;
    }
    if (cli_has(typed, "out")) return cli_say("--resume continues in its own file; leave --out out"), CLI_USAGE;
    if (!name_files(k, typed)) return CLI_USAGE;
    if (!exists(k->journal) && exists(k->out))
        return cli_wants_sweep(k->out) ? CLI_USAGE : (cli_say("%s is complete", k->out), plot_complete(k, typed));
    k->book = carom_journal_open(k->journal, &k->definition, &k->definition_length, &k->err);
    if (!k->book) return cli_say("%s", k->err.text), CLI_USAGE;
    if (!undefine(k, typed->verb, stored)) return CLI_USAGE;
    k->a = stored;
    if (!read_usage(k, typed) || !create(k)) return CLI_USAGE;
    return share_sweep(k) ? run(k, typed) : CLI_FAILED;
}

static int go(const cli_args *typed) {
    sweep k = {0};
    cli_args stored = {0};
    if (!ranks_begin(&k.rank, &k.ranks)) return ranks_end(false, CLI_USAGE), CLI_USAGE;
    const int code = k.rank > 0                 ? help_rank_0(&k, typed, &stored)
                     : cli_has(typed, "resume") ? go_on(&k, typed, &stored)
                                                : begin_new(&k, typed, &stored);
    // the others need not wait
    if (k.rank == 0 && k.ranks > 1 && k.shared < 2) share(&k, &(void *){NULL}, &(size_t){0});
    // for a rank that does not answer
    const bool waits = k.rank == 0 && k.book && k.serve.user && k.serve.left < k.ranks - 1;
    carom_journal_destroy(k.book);
    carom_sweep_destroy(k.s);
    cli_matrices_free(&k.matrices);
    free(k.start);
    cli_free(&stored);
    sweep_words_free(&k.words);
    free(k.out);
    free(k.journal);
    free(k.text);
    free(k.definition);
    free(k.own);
    ranks_end(waits, code);
    return code;
}

const cli_verb cli_sweep = {
    .name = "sweep",
    .arguments = "MODEL",
    .about = "run one model over grids, lists or samples of parameters; write one result file",
    .most = 1,
    .options = options,
    .run = go,
    .text = "One row per run: varied values, exit status, message, observed values at the end; with --section a second "
            "table with\n"
            "all section points.  A run that fails is a row; the sweep continues.  Ctrl-C, kill -9 and a full disk "
            "lose at most a second: `carom\n"
            "sweep --resume FILE` continues.  The tables are byte-identical for any number of --jobs and --part, and "
            "after interruptions.\n\n"
            "Under mpirun the ranks share the work, and rank 0 writes: mpirun -n 8 carom sweep MODEL ...",
};
