// cmd_run.c: carom run: a model, a scheme, a result, a ledger.
//
// The command line comes before the file's simulation section.  Whatever happens after the first step, what was
// computed is saved; only then does the exit status say how it went.
#define _POSIX_C_SOURCE 200809L
#include "cli/watch.h"
#include "io/json.h"
#include "io/publish.h"
#include "io/recording.h"
#include "io/spacing.h"
#include "io/table.h"
#include "model/answers.h"
#include "sim/inspect.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {
    {"scheme", 0, "NAME", "scheme (default: the model's, else auto); `carom schemes` lists them", false},
    {"step", 0, "H", "step size; the last step is shortened when T/H is not an integer", false},
    {"end", 0, "T", "end time: a number, one with a unit, or an expression of parameters", false},
    {"option", 0, "KEY=VALUE", "an option of the scheme or contact solver; `carom schemes NAME` lists them", true},
    CLI_MODEL,
    {"adaptive", 0, NULL, "choose step sizes from error estimates; --step is the initial step (splitting: the maximum)",
     false},
    {"rtol", 0, "X",
     "tolerance relative to each coordinate and rate, for adaptive steps and schemes that control their own", false},
    {"atol", 0, "X", "absolute tolerance", false},
    {"every", 0, "N", "record a row every N steps (default: about 2000 rows; --every 1 leaves adaptive steps free)",
     false},
    {"dt-out", 0, "T",
     "record a row at k T exactly (adaptive steps, and schemes that locate events), or at the first step end at or "
     "after k T (the others)",
     false},
    {"event-rows", 0, NULL, "record two extra rows at every located event: the left and right limits of the state",
     false},
    {"out", 'o', "FILE",
     "result: .h5 (default: the model's file name with .h5, in this directory), .csv, or - for CSV on standard output",
     false},
    {"columns", 0, "PATTERN,...",
     "columns of the result by name, * for any text and ? for any character; all: every one (like `record: {columns: "
     "[...]}` in the model file)",
     false},
    {"compress", 0, NULL, "compress the tables of an .h5 result", false},
    {"units", 0, NULL, "write a second line into a .csv result: the units of columns, - where they are unknown", false},
    CLI_COMPILE,
    {"start", 0, "FILE",
     "initial state from `carom equilibrium --save FILE`, or from the last row of a result; time begins at 0", false},
    {"resume", 0, "FILE.h5", "continue this result from its last state; only --end and --out may change", false},
    {"force", 0, NULL,
     "overwrite an existing result immediately; by default it is kept as FILE.before until the run succeeds", false},
    {"settle", 0, NULL, "separate bodies whose shapes overlap initially, like `settle: yes` in the model file", false},
    {"threads", 0, "N", "number of threads for large contact problems (default 1); results do not depend on N", false},
    {"dump-problems", 0, "FILE",
     "write the ten hardest contact problems of the run as text for `carom solve` (.h5 or .hdf5: the hardest one, in "
     "FCLIB's form)",
     false},
    {"watch", 0, NULL, "write a page (result name with .html) that reloads every few seconds during the run", false},
    {"estimate", 0, NULL,
     "estimate the errors: repeat the run with half the step and a quarter of it, or a tenth and a hundredth of the "
     "tolerance",
     false},
    {"strict", 0, NULL,
     "exit with status 3 if the ledger has warnings, or if estimated errors become large before the end", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {"json", 0, NULL, "the ledger as JSON on standard output", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct run {
    const cli_args *a;
    char *text;              // the model
    size_t length;
    const char *model_file;
    char *model_file_own, *scheme_own, *set_own, *options_own, *columns_own; // from a resumed file, or the command line
    char *chosen_own;        // why a resumed file has its scheme
    const char **set, **options, **columns;
    cli_matrices matrices;
    bool complete;           // the resumed run has reached its end
    double reached;          // time of its last row
    carom_result *resumed;   // holds the matrices of a resumed model until that is made
    carom_run_given given;
    carom_run run;
    double dt_out, every;
    const char *out;         // NULL: standard output
    char *out_own;
    carom_model *model;
    double *start;           // positions, velocities; NULL: the model's own
    carom_sim *sim;
    carom_team *team;        // NULL: one thread
    carom_record *record;
    carom_compile_mode compile;
    bool quiet, json, stopped, record_failed;
    double flushed, flush;   // when, and how long that took
    cli_progress progress;
    cli_watch watch;
    carom_sim_def def;       // of sim
    carom_estimate *estimate; // NULL: none
    carom_error err;
} run;

// -- what is wanted -----------------------------------------------------------------------------------

static bool read_usage(run *r, const cli_args *a) {
    r->quiet = cli_has(a, "quiet");
    r->json = cli_has(a, "json");
    r->given = carom_run_nothing();
    if (!cli_compile_mode(a, &r->compile)) return false;
    const char *out = cli_value(a, "out");
    if (!cli_duration(a, "step", &r->given.step) || !cli_duration(a, "end", &r->given.end) ||
        !cli_duration(a, "dt-out", &r->dt_out) || !cli_positive(a, "every", &r->every))
        return false;
    r->given.interval = r->dt_out;
    if (r->every != floor(r->every) || r->every > 1e15) // whole numbers of a double
        return cli_say("--every: expected an integer, got %s", cli_value(a, "every")), false;
    if (r->every > 0 && r->dt_out > 0) return cli_say("--every and --dt-out are mutually exclusive; give one"), false;
    if (out && strcmp(out, "-") == 0 && r->json)
        return cli_say("--json and --out - both use standard output; give --out a file"), false;
    if (out && strcmp(out, "-") != 0 && !carom_ends(out, ".h5") && !carom_ends(out, ".csv"))
        return cli_say("--out: '%s' ends neither in .h5 nor in .csv", out), false;
    if (cli_has(a, "watch") && out && !carom_ends(out, ".h5"))
        return cli_say("--watch follows an .h5 result; give --out one, or leave it out"), false;
    if (cli_has(a, "start") && cli_has(a, "resume"))
        return cli_say("--start and --resume are mutually exclusive; give one"), false;
    if (cli_has(a, "estimate") && cli_has(a, "resume"))
        return cli_say("--estimate and --resume are mutually exclusive: an estimate repeats the run from its start"),
               false;
    if (a->n == 0 && !cli_has(a, "resume"))
        return cli_say("run needs a model; usage: carom run %s", a->verb->arguments), false;
    return true;
}

static bool same_list(const cli_args *a, const char *name, const char *stored) {
    if (!cli_has(a, name) && !(strcmp(name, "set") == 0 && cli_has(a, "input"))) return true;
    const char **given = cli_list(a, name);
    char *copy = strdup(stored);
    if (!copy) abort();
    const char **have = cli_split(copy, '\n');
    // The file's own options come first in what was stored.
    const int n = carom_list_length(have), k = carom_list_length(given);
    bool same = k <= n;
    for (int i = 0; same && i < k; ++i) same = strcmp(given[i], have[n - k + i]) == 0;
    free(have);
    free(copy);
    free(given);
    if (!same) cli_say("--%s differs from the value stored in the result; a resumed run cannot change it", name);
    return same;
}

static bool same_number(const char *option, double given, bool is_given, double stored) {
    if (!is_given || given == stored) return true;
    cli_say("--%s %.17g differs from %.17g, with which the result was computed; a resumed run cannot change it", option,
            given, stored);
    return false;
}

static char *copy_text(const char *text) {
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) abort();
    return copy;
}

// An end before what is there already would throw rows away.
static bool later(carom_result *old, const char *file, double end, double *t, carom_error *err) {
    const long rows = carom_result_rows(old);
    *t = 0;
    if (rows > 0 && carom_result_read(old, 0, rows - 1, 1, t, err) != CAROM_OK) return cli_say("%s", err->text), false;
    if (*t > end) return cli_say("%s is already at t = %.9g; --end must not be earlier", file, *t), false;
    return true;
}

// Everything from the result that is to be continued.
static bool read_resumed(run *r, const char *file) {
    carom_result *old = carom_result_open(file, &r->err);
    if (!old) return cli_say("%s", r->err.text), false;
    r->resumed = old;
    double step = NAN, end = NAN, every = 0, dt_out = 0;
    size_t length = 0;
    const char *text = carom_result_model(old, &length), *set = carom_result_text(old, "set");
    const char *given = carom_result_text(old, "options_given"), *scheme = carom_result_text(old, "scheme");
    bool good = text && set && given && scheme && carom_result_number(old, "step", &step) &&
                carom_result_number(old, "end", &end) && carom_result_number(old, "every", &every) &&
                carom_result_number(old, "dt_out", &dt_out);
    if (!good) cli_say("%s contains no run settings; only .h5 results of `carom run` can be resumed", file);
    const cli_args *a = r->a;
    if (good && (cli_has(a, "adaptive") || cli_has(a, "rtol") || cli_has(a, "atol"))) {
        cli_say("%s must resume with its original step control; omit --adaptive, --rtol and --atol", file);
        good = false;
    }
    good = good && same_list(a, "set", set) && same_list(a, "option", given) &&
           same_number("step", r->given.step, cli_has(a, "step"), step) &&
           same_number("every", r->every, cli_has(a, "every"), every) &&
           same_number("dt-out", r->dt_out, cli_has(a, "dt-out"), dt_out);
    if (good && cli_has(a, "scheme") && strcmp(cli_value(a, "scheme"), scheme) != 0) {
        cli_say("%s was computed with %s; a resumed run cannot change the scheme", file, scheme);
        good = false;
    }
    double event_rows = 0;
    if (good && cli_has(a, "event-rows") && !(carom_result_number(old, "event_rows", &event_rows) && event_rows == 1)) {
        cli_say("%s was recorded without event rows; a resumed run cannot add them", file);
        good = false;
    }
    if (good && cli_has(a, "matrix")) {
        cli_say("%s contains its matrices; leave --matrix out, or run the model anew", file);
        good = false;
    }
    good = good && later(old, file, cli_has(a, "end") ? r->given.end : end, &r->reached, &r->err);
    if (good) {
        const char *status = carom_result_text(old, "status");
        r->complete = status && strcmp(status, "done") == 0 && !(cli_has(a, "end") && r->given.end > end);
        r->text = copy_text(text);
        r->length = length;
        r->set_own = copy_text(set);
        r->options_own = copy_text(given);
        r->given.scheme = r->scheme_own = copy_text(scheme);
        r->model_file_own = copy_text(carom_result_text(old, "model_file"));
        r->model_file = r->model_file_own && r->model_file_own[0] ? r->model_file_own : file;
        r->set = cli_split(r->set_own, '\n');
        r->given.options = r->options = cli_split(r->options_own, '\n');
        const char *columns = carom_result_text(old, "columns_given"); // an older file has none
        if (columns && *columns) r->columns_own = copy_text(columns), r->columns = cli_split(r->columns_own, '\n');
        const char *chosen = carom_result_text(old, "choice");
        if (chosen) r->chosen_own = copy_text(chosen);
        r->given.step = step;
        if (!cli_has(a, "end")) r->given.end = end;
    }
    return good;
}

// A model named beside --resume must be the one in the result.
static bool same_model(const run *r) {
    size_t length = 0;
    char *text = cli_read_file(r->a->word[0], &length);
    const bool same = text && length == r->length && memcmp(text, r->text, length) == 0;
    if (text && !same)
        cli_say("%s is not the model in %s (which contains its own copy); leave the model out, or run it anew",
                r->a->word[0], cli_value(r->a, "resume"));
    free(text);
    return same;
}

// --settle is a line of the model: the result holds it with the text.
static void add_settle(run *r) {
    static const char line[] = "\nsettle: yes\n";
    if (!cli_has(r->a, "settle") || !r->text || strstr(r->text, "\nsettle:")) return;
    char *more = realloc(r->text, r->length + sizeof line);
    if (!more) abort();
    r->text = more;
    memcpy(more + r->length, line, sizeof line);
    r->length += sizeof line - 1;
}

static bool read_model(run *r) {
    carom_model_def def = {.text = r->text, .length = r->length, .file = r->model_file, .set = r->set};
    if (r->resumed) {
        if (carom_result_matrices(r->resumed, &def.matrices, &def.nmatrices, &r->err) != CAROM_OK)
            return cli_say("%s", r->err.text), false;
    } else if (!cli_matrices_read(r->a, &r->matrices)) {
        return false;
    } else {
        def.matrices = r->matrices.list, def.nmatrices = r->matrices.n;
    }
    r->model = carom_model_create(&def, &r->err);
    if (!r->model) cli_say_at("%s", r->err.text);
    else if (!r->quiet && !r->resumed && carom_model_settled(r->model)) cli_say("%s", carom_model_settled(r->model));
    carom_result_close(r->resumed); // it is written on from here
    r->resumed = NULL;
    return r->model != NULL;
}

// The command line before the file's simulation section.
static bool read_new(run *r) {
    const cli_args *a = r->a;
    r->model_file = a->word[0];
    if (carom_result_probe(r->model_file)) {
        if (carom_table_probe(r->model_file, "runs") || carom_table_probe(r->model_file, "branch"))
            return cli_wants_model(r->model_file), false;
        return cli_say("%s is a result, not a model; to continue it: carom run --resume %s", r->model_file,
                       r->model_file),
               false;
    }
    r->set = cli_list(a, "set");
    r->text = cli_read_file(r->model_file, &r->length);
    add_settle(r);
    if (cli_has(a, "columns"))
        r->columns_own = copy_text(cli_value(a, "columns")), r->columns = cli_split(r->columns_own, ',');
    r->given.options = r->options = cli_list(a, "option");
    r->given.scheme = cli_value(a, "scheme");
    r->given.adaptive = cli_has(a, "adaptive");
    return cli_positive(a, "rtol", &r->given.rtol) && cli_positive(a, "atol", &r->given.atol) && r->text &&
           read_model(r);
}

// --threads
static bool create_team(run *r) {
    long n = 1;
    if (!cli_whole(r->a, "threads", INT_MAX, &n)) return false;
    if (n == 1) return true;
    r->team = carom_team_create((int)n, &r->err);
    if (!r->team) cli_say("--threads: %s", r->err.text);
    return r->team != NULL;
}

// Before it starts: is there less memory than the run could need?
static void say_memory(const run *r) {
    static const double little = 64e6; // bytes: a machine that lacks them could hardly start the program
    const double most = (double)carom_sim_memory(r->sim);
    if (r->quiet || most < little) return;
    FILE *f = fopen("/proc/meminfo", "r");
    char line[200];
    double available = HUGE_VAL;
    long long kilobytes;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kilobytes) == 1) available = 1024.0 * (double)kilobytes;
    if (f) fclose(f);
    if (!(most > available)) return;
    const carom_system *sys = carom_sim_system(r->sim);
    cli_say("%s reserves %.3g GB for the case that all %d contacts%s act at once, and %.3g GB are available: the run "
            "fails if it comes to that; other schemes need less (docs/large-systems.md)",
            carom_sim_scheme(r->sim)->name, 1e-9 * most, sys->nc, sys->listed ? " of bodies near each other" : "",
            1e-9 * available);
}

static bool create_sim(run *r) {
    if (!create_team(r)) return false;
    // A resumed run has all it needs; a new one takes what is not given from the model.
    if (carom_run_resolve(&r->run, cli_has(r->a, "resume") ? NULL : r->model, &r->given, &r->err) != CAROM_OK)
        return cli_say_of(r->model_file, r->err.text), false;
    if (!cli_compile(r->model, r->compile, r->run.evaluations)) return false;
    carom_sim_def def = carom_run_sim(&r->run, r->model);
    if (r->chosen_own) def.choice = r->chosen_own;
    if (cli_has(r->a, "start")) {
        r->start = cli_state(r->model, cli_value(r->a, "start"));
        if (!r->start) return false;
        def.q0 = r->start, def.v0 = r->start + def.system->nq;
        carom_run_signals(&def, def.v0 + def.system->nv, r->start + def.system->nq + def.system->nv);
    }
    r->def = def;
    r->sim = carom_sim_create(&def, &r->err);
    if (r->sim && r->team) carom_sim_team(r->sim, r->team);
    if (r->sim) say_memory(r);
    const char *place = r->sim ? NULL : cli_blame(r->model, r->run.from_file, r->err.code);
    if (place) cli_say_at("%s: %s", place, r->err.text);
    else if (!r->sim) cli_say("%s", r->err.text);
    return r->sim != NULL;
}

// -- the result ---------------------------------------------------------------------------------------

// Bytes of one file to another name, by way of a third, so that the name never means half a file.
static bool copy_file(const char *from, const char *to, bool keep) {
    char *part = part_name(to), block[65536];
    if (!part) abort();
    FILE *in = fopen(from, "rb");
    const int fd = in ? part_open(part) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool good = in && out;
    for (size_t n = 1; good && n > 0;) {
        n = fread(block, 1, sizeof block, in);
        good = !ferror(in) && fwrite(block, 1, n, out) == n;
    }
    if (in) fclose(in);
    if (out) good = fclose(out) == 0 && good;
    carom_error err = {0};
    if (!good) {
        cli_say("cannot copy %s to %s: %s", from, to, strerror(errno));
        publish_not(to);
    } else if (publish(to, keep, &err) != CAROM_OK) {
        cli_say("%s", err.text);
        good = false;
    }
    free(part);
    return good;
}

bool cli_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// Before the run: the size of a large result, and names that will go.
static void say_columns(const run *r) {
    static const double LARGE = 2e8; // bytes
    int columns;
    const double bytes = carom_record_expected(r->record, &columns);
    const char *numbered = carom_record_numbered(r->record);
    if (numbered)
        cli_say("column '%s' numbers a contact of a family, and the next release has it under the names of its shapes "
                "alone; use 'A-B.gap'",
                numbered);
    if (!(bytes >= LARGE)) return; // below, a number of text has some 20 bytes for 8
    cli_say("expected size of %s: %.2g GB, about %.0f rows of %d columns; reduce it with --columns, --every or "
            "--dt-out",
            r->out, 1e-9 * (carom_ends(r->out, ".csv") ? 2.5 : 1) * bytes, bytes / (8.0 * columns), columns);
}

static bool open_record(run *r) {
    const char *resume = cli_value(r->a, "resume"), *out = cli_value(r->a, "out");
    static const char *const endings[] = {".yaml", ".yml", NULL};
    carom_record_def def = carom_record_default();
    if (out && strcmp(out, "-") == 0)
        def.stream = stdout;
    else if (out) r->out = out;
    else if (resume) r->out = resume;
    else r->out = r->out_own = cli_rename(r->model_file, endings, ".h5");
    def.file = r->out;
    def.model = r->model;
    def.sim = r->sim;
    def.step = r->run.step;
    def.end = r->run.end;
    def.every = (long)r->every;
    def.dt_out = r->dt_out;
    def.event_rows = cli_has(r->a, "event-rows");
    def.compress = cli_has(r->a, "compress");
    def.units = cli_has(r->a, "units");
    def.text = r->text;
    def.length = r->length;
    def.model_file = r->model_file;
    def.set = r->set;
    def.options = (const char *const *)r->run.options;
    def.columns = r->columns;
    def.replace = cli_has(r->a, "force");
    if (cli_has(r->a, "watch") && !def.replace && !cli_watch_allowed(r->out)) return false;
    if (resume) {
        if (!r->out || !carom_ends(r->out, ".h5"))
            return cli_say("a resumed run continues in an .h5 file; give --out one, or leave it out"), false;
        if (out && !cli_same_file(out, resume) && !copy_file(resume, out, !cli_has(r->a, "force"))) return false;
    }
    r->record = resume ? carom_record_resume(&def, &r->err) : carom_record_create(&def, &r->err);
    if (!r->record) cli_say("%s", r->err.text);
    else if (r->out && !r->quiet) say_columns(r);
    return r->record != NULL;
}

// -- the loop -----------------------------------------------------------------------------------------

static double fraction(const run *r, const carom_now *now) {
    const double x = now->t / r->run.end;
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static void report_progress(run *r, const carom_now *now) {
    const carom_system *sys = carom_model_system(r->model);
    carom_ledger l;
    carom_error err = {0};
    if (carom_sim_ledger(r->sim, &l, &err) != CAROM_OK) return;
    cli_live live = {.t = now->t, .energy = l.energy.end, .steps = l.steps, .impacts = l.impacts, .contacts = sys->nc};
    sys = carom_sim_system(r->sim);
    for (int id = sys->ne; now->reacted && id < sys->ne + sys->nc; ++id) {
        const int k = now->dir[id];
        live.closed += now->impulse[k] > 0 || now->force[k] > 0;
    }
    cli_progress_show(&r->progress, fraction(r, now), &live);
}

static carom_status attend(run *r, const carom_now *now) {
    if (cli_signals_take()) {
        r->stopped = true;
        return CAROM_STOPPED;
    }
    if (cli_progress_due(&r->progress)) report_progress(r, now);
    const double clock = cli_clock();
    // large states take a while: a twentieth of the time at most
    if (clock - r->flushed < 0.5 || clock - r->flushed < 20 * r->flush) return CAROM_OK;
    const carom_status status = carom_record_flush(r->record, &r->err);
    r->record_failed = status != CAROM_OK;
    cli_watch_tend(&r->watch);
    r->flushed = cli_clock();
    r->flush = r->flushed - clock;
    return status;
}

static carom_status on_step(void *user, const carom_now *now) {
    run *r = user;
    const carom_status status = carom_record_step(r->record, now);
    if (status != CAROM_OK) {
        r->record_failed = true;
        r->err = *carom_record_error(r->record);
        return status;
    }
    return cli_attention ? attend(r, now) : CAROM_OK;
}

// Has the run been estimated?
static bool estimated(const run *r) { return r->estimate && carom_estimate_text(r->estimate); }

// -- the account --------------------------------------------------------------------------------------

typedef struct verdict { bool met; const char *text; double left, right; } verdict;

static verdict *judge(const run *r, const carom_ledger *l, int *n) {
    *n = carom_model_count(r->model).checks;
    verdict *v = calloc((size_t)*n + 1, sizeof *v);
    if (!v) abort();
    const double *low = NULL, *high = NULL;
    const carom_now now = carom_sim_now(r->sim);
    carom_record_extremes(r->record, &low, &high);
    for (int i = 0; i < *n; ++i)
        v[i].met = carom_model_check(r->model, i, low, high, l, carom_sim_work(r->sim), now.t, now.q, now.v, &v[i].text,
                                     &v[i].left, &v[i].right);
    return v;
}

enum { CHOICE = 4096 }; // bytes of the sentence about it

static void print_json(const run *r, const carom_ledger *l, const char *status, const verdict *v, int n,
                       const carom_warning *warning, int nwarning) {
    FILE *f = stdout;
    char choice[CHOICE];
    carom_sim_choice(r->sim, choice, sizeof choice);
    const struct { const char *name, *text; } text[] = {
        {"model", r->model_file}, {"name", carom_model_name(r->model)}, {"scheme", carom_sim_scheme(r->sim)->name},
        {"result", r->out}, {"status", status}, {"version", CAROM_VERSION},
        {"choice", choice[0] ? choice : NULL},
    };
    fputs("{", f);
    for (size_t i = 0; i < sizeof text / sizeof text[0]; ++i)
        carom_json(f, i ? ",\n  %s: %s" : "\n  %s: %s", text[i].name, text[i].text);
    carom_json(f, ",\n  \"step\": %g, \"end\": %g, \"time\": %g, \"rows\": %ld,\n  ", r->run.step, r->run.end,
               carom_sim_now(r->sim).t, carom_record_rows(r->record));
    carom_ledger_names names = carom_ledger_names_of(l, r->model);
    char warnings[CAROM_WARNINGS_ROOM];
    carom_warnings_json(warnings, warning, nwarning);
    names.warnings = warnings;
    names.estimate = estimated(r) ? carom_estimate_text(r->estimate) : NULL;
    carom_ledger_json(f, l, names);
    carom_elements_json(f, r->model, r->sim);
    fputs(",\n  \"checks\": [", f);
    for (int i = 0; i < n; ++i) {
        fputs(i ? ",\n    " : "\n    ", f);
        carom_json(f, "{\"check\": %s, \"met\": %i, \"left\": %g, \"right\": %g}", v[i].text, v[i].met, v[i].left,
                   v[i].right);
    }
    fputs("]\n}\n", f);
}

static void print_text(const run *r, const carom_ledger *l, const verdict *v, int n, const carom_warning *warning,
                       int nwarning) {
    FILE *f = r->out ? stdout : stderr;
    const char *name = carom_model_name(r->model);
    const bool adaptive = carom_sim_total_steps(r->sim) == 0,
               own = !adaptive && carom_sim_scheme(r->sim)->controls_own_steps;
    char choice[CHOICE];
    carom_sim_choice(r->sim, choice, sizeof choice);
    carom_safe_file(f, "%s: %s, %s %g, t = 0 .. %.9g", name ? name : r->model_file, carom_sim_scheme(r->sim)->name,
                    adaptive ? "adaptive, first step"
                    : own    ? "a record every"
                             : "step",
                    own ? record_spacing(r->record) : r->run.step, carom_sim_now(r->sim).t);
    if (r->out) carom_safe_file(f, ", %ld rows in %s", carom_record_rows(r->record), r->out);
    fputc('\n', f);
    carom_ledger_print(f, l, carom_ledger_names_of(l, r->model));
    carom_elements_print(f, r->model, r->sim);
    if (estimated(r)) carom_estimate_print(f, r->estimate);
    if (choice[0]) carom_safe_file(f, "  %-12s %s\n", "chosen", choice);
    for (int i = 0; i < nwarning; ++i) {
        carom_safe_file(f, "  %-12s %s", "warning", warning[i].kind);
        if (warning[i].name) carom_safe_file(f, " at %s", warning[i].name);
        carom_safe_file(f, ": %s\n", warning[i].text);
    }
    for (int i = 0; i < n; ++i)
        if (v[i].met) carom_safe_file(f, "  check ok     %s (%.6g, %.6g)\n", v[i].text, v[i].left, v[i].right);
    fflush(f);
}

static int report(run *r, const char *status, int code) {
    carom_ledger l;
    if (carom_sim_ledger(r->sim, &l, &r->err) != CAROM_OK) return cli_say("%s", r->err.text), CLI_FAILED;
    int n = 0;
    verdict *v = code == CLI_DONE ? judge(r, &l, &n) : NULL; // a run that did not end has no verdict
    carom_warning warning[CAROM_WARNINGS];
    const int nwarning = carom_sim_warnings(r->sim, &l, warning);
    if (r->json) print_json(r, &l, status, v, n, warning, nwarning);
    else if (!r->quiet) print_text(r, &l, v, n, warning, nwarning);
    for (int i = 0; i < n; ++i) {
        if (v[i].met) continue;
        cli_say("check failed: %s (%.9g, %.9g)", v[i].text, v[i].left, v[i].right);
        code = CLI_CHECK;
    }
    if (code == CLI_DONE && nwarning > 0 && cli_has(r->a, "strict")) {
        for (int i = 0; i < nwarning; ++i) cli_say("%s: %s", warning[i].kind, warning[i].text);
        code = CLI_CHECK;
    }
    if (code == CLI_DONE && estimated(r) && cli_has(r->a, "strict") && carom_estimate_until(r->estimate) < HUGE_VAL) {
        cli_say("the estimated errors are large from t = %.9g on", carom_estimate_until(r->estimate));
        code = CLI_CHECK;
    }
    free(v);
    return code;
}

// A run that was not done has not replaced an older result.
static void report_older(const char *out) {
    char *before = malloc(strlen(out) + sizeof ".before");
    if (!before) abort();
    if (access(strcat(strcpy(before, out), ".before"), F_OK) == 0)
        cli_say("the result of an earlier run is kept in %s", before);
    free(before);
}

// -- the estimate -------------------------------------------------------------------------------------

static bool estimate_tick(void *user, double fraction) {
    run *r = user;
    if (!cli_attention) return true;
    if (cli_signals_take()) return r->stopped = true, false;
    if (cli_progress_due(&r->progress))
        cli_progress_show(&r->progress, fraction, &(cli_live){.t = fraction * r->run.end, .energy = NAN});
    return true;
}

// The status of the estimate; that of the run has been done.
static carom_status estimate(run *r, carom_error *err) {
    const carom_estimate_def def = {.model = r->model, .sim = &r->def, .dt_out = r->dt_out, .team = r->team};
    r->progress = cli_progress_begin(!r->quiet, 0);
    r->estimate = carom_estimate_create(&def, err);
    carom_status status = r->estimate ? carom_estimate_run(r->estimate, estimate_tick, r, err) : err->code;
    cli_progress_end(&r->progress);
    if (status == CAROM_OK) carom_record_estimate(r->record, carom_estimate_text(r->estimate));
    return status;
}

static int conclude(run *r, carom_status status) {
    const char *word = r->stopped ? "interrupted" : status == CAROM_OK || carom_sim_done(r->sim) ? "done" : "failed";
    int code = r->stopped ? CLI_INTERRUPTED : strcmp(word, "done") == 0 && !r->record_failed ? CLI_DONE : CLI_FAILED;
    const carom_error failure = r->err;
    if (code == CLI_FAILED) cli_say("%s", failure.text);
    carom_error err = {0}, other = {0};
    const carom_status after = code == CLI_DONE && cli_has(r->a, "estimate") ? estimate(r, &other) : CAROM_OK;
    if (carom_record_finish(r->record, word, code == CLI_FAILED ? failure.text : NULL, &err) != CAROM_OK) {
        if (strcmp(err.text, failure.text) != 0) cli_say("%s", err.text);
        if (code == CLI_DONE) code = CLI_FAILED;
    }
    code = report(r, word, code);
    if (after != CAROM_OK) {
        cli_say("no estimate: %s", other.text);
        return r->stopped ? CLI_INTERRUPTED : CLI_FAILED; // the run itself is done
    }
    const double t = carom_sim_now(r->sim).t;
    if (code == CLI_FAILED && r->out)
        cli_say("partial result up to t = %.9g saved in %s", carom_record_saved(r->record), r->out);
    if (strcmp(word, "done") != 0 && r->out) report_older(r->out);
    if (code == CLI_INTERRUPTED && r->out && carom_ends(r->out, ".h5"))
        cli_say("interrupted at t = %.9g and saved; continue with: carom run --resume %s", t, r->out);
    else if (code == CLI_INTERRUPTED)
        cli_say("interrupted at t = %.9g; rows until then are written (only .h5 results can be resumed)", t);
    return code;
}

static int simulate(run *r) {
    const carom_now now = carom_sim_now(r->sim);
    if (r->complete && !r->quiet)
        cli_say("%s is complete: the run ended at t = %.9g; use --end to continue it", cli_value(r->a, "resume"),
                r->reached);
    r->progress = cli_progress_begin(!r->quiet, fraction(r, &now));
    r->flushed = cli_clock();
    cli_signals_begin();
    cli_dump *dump = cli_has(r->a, "dump-problems") ? cli_dump_begin(r->sim, cli_value(r->a, "dump-problems")) : NULL;
    carom_sim_stop_when(r->sim, cli_signals_asked, NULL);
    const carom_status status = carom_sim_run_lazily(r->sim, on_step, r, &r->err);
    carom_sim_stop_when(r->sim, NULL, NULL); // what follows is not to be stopped
    r->stopped = r->stopped || (status == CAROM_STOPPED && cli_signals_asked(NULL));
    cli_progress_end(&r->progress);
    int code = conclude(r, status);
    if (!cli_dump_end(dump) && code == CLI_DONE) code = CLI_FAILED;
    cli_signals_end();
    return code;
}

static int go(const cli_args *a) {
    run r = {.a = a};
    int code = CLI_USAGE;
    const char *resume = cli_value(a, "resume");
    bool ready = read_usage(&r, a);
    if (ready && resume) ready = read_resumed(&r, resume) && (a->n == 0 || same_model(&r)) && read_model(&r);
    else if (ready) ready = read_new(&r);
    if (ready && create_sim(&r) && open_record(&r)) {
        if (cli_has(a, "watch")) cli_watch_begin(&r.watch, r.out);
        code = simulate(&r);
    }
    carom_record_destroy(r.record);
    carom_estimate_destroy(r.estimate);
    cli_watch_end(&r.watch);
    carom_sim_destroy(r.sim);
    carom_team_destroy(r.team);
    carom_run_free(&r.run);
    carom_model_destroy(r.model);
    free(r.start);
    free(r.set);
    cli_matrices_free(&r.matrices);
    carom_result_close(r.resumed);
    free(r.options);
    free(r.text);
    free(r.model_file_own);
    free(r.scheme_own);
    free(r.chosen_own);
    free(r.set_own);
    free(r.options_own);
    free(r.columns_own);
    free(r.columns);
    free(r.out_own);
    return code;
}

const cli_verb cli_run = {
    .name = "run",
    .arguments = "MODEL",
    .about = "simulate a model and print the ledger; shows progress on a terminal",
    .most = 1,
    .options = options,
    .run = go,
    .text =
        "Scheme, step, end and options come from the command line or else from the simulation section of the model.  "
        "Times are in\n"
        "seconds, or have a unit: --step '2 ms'.\n"
        "Ctrl-C, SIGTERM, SIGUSR1 and SIGUSR2 save and close the result; `carom run --resume FILE.h5` continues it.\n"
        "The result is bit-identical to that of an uninterrupted run.",
};
