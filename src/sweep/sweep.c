// sweep.c: the list of runs, and the threads that work it off.
//
// A chain is a row of runs along the last --vary, of which each starts where the one before has ended (--follow);
// without that, every run is a chain of its own.  Threads take whole chains in their order.
#define _POSIX_C_SOURCE 200809L // clock_gettime, pthread_cond_timedwait
#include "base/missing.h"
#include "base/news.h"
#include "model/answers.h"
#include "model/forcing.h"
#include "sim/sim.h"
#include "sweep/lanes.h"
#include "sweep/shards.h"
#include <carom/compile.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

carom_sweep_def carom_sweep_default(void) { return (carom_sweep_def){.run = carom_run_nothing(), .jobs = 1}; }

// -- numbers of runs ---------------------------------------------------------------------------------------------

static long chains(const carom_sweep *s) { return s->runs / carom_sweep_chain(s); }

static void mine(const carom_sweep *s, long *first, long *last) {
    const long n = chains(s), parts = s->def.parts > 0 ? s->def.parts : 1, part = s->def.parts > 0 ? s->def.part : 1;
    *first = (long)((double)n / (double)parts * (double)(part - 1));
    *last = part == parts ? n : (long)((double)n / (double)parts * (double)part);
}

// -- create ----------------------------------------------------------------------------------------------------------

static carom_status count(carom_sweep *s, carom_error *err) {
    double grid = 1;
    for (int i = 0; i < s->nvary; ++i) {
        if (s->def.zip && s->vary[i].n != s->vary[0].n)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "`zip` needs lists of equal length; `vary %.60s` has %ld values, `vary %.60s` has %ld",
                              s->vary[0].name, s->vary[0].n, s->vary[i].name, s->vary[i].n);
        grid = s->def.zip ? (double)s->vary[0].n : grid * (double)s->vary[i].n;
    }
    if (grid > 1e9) return carom_fail(err, CAROM_BAD_INPUT, "the sweep has %g runs; at most 1e9 are possible", grid);
    s->grid = (long)grid;
    s->length = s->def.follow == CAROM_FOLLOW_NONE ? 1 : s->def.zip ? s->grid : s->vary[s->nvary - 1].n;
    s->runs = s->grid * (carom_sweep_chain(s) / s->length);
    s->skip = calloc((size_t)s->runs, sizeof *s->skip);
    s->start = calloc((size_t)s->runs, sizeof *s->start);
    return s->skip && s->start ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %ld runs", s->runs);
}

static carom_status check(const carom_sweep *s, carom_error *err) {
    const carom_sweep_def *d = &s->def;
    if (s->nvary == 0) return carom_fail(err, CAROM_BAD_INPUT, "nothing to vary; give `vary NAME=SPEC`");
    if (d->section && s->nobserve == 0)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "`section` without `observe`: specify the observed quantities");
    if (d->count > 0 && !d->section)
        return carom_fail(err, CAROM_BAD_INPUT, "`count` counts section points; give `section`");
    if (d->parts > 0 && !(d->part >= 1 && d->part <= d->parts))
        return carom_fail(err, CAROM_BAD_INPUT, "`part %d/%d`: the first number runs from 1 to the second", d->part,
                          d->parts);
    if (!(d->transient >= 0 && isfinite(d->transient)))
        return carom_fail(err, CAROM_BAD_INPUT, "`transient` must not be negative");
    for (int i = 0; i < s->nvary && d->follow != CAROM_FOLLOW_NONE; ++i)
        if (s->vary[i].kind == VARY_POSITION || s->vary[i].kind == VARY_RATE)
            return carom_fail(
                err, CAROM_BAD_INPUT,
                "`follow` starts runs where others ended; the initial value of '%.60s' cannot be varied with it",
                s->vary[i].name);
    for (int i = 0; i < s->nvary; ++i)
        for (int k = 0; k < i; ++k)
            if (strcmp(s->vary[i].name, s->vary[k].name) == 0)
                return carom_fail(err, CAROM_BAD_INPUT, "`vary %.60s` is given twice", s->vary[i].name);
    return CAROM_OK;
}

// Is this column there already: varied, or observed before?  At section points the varied values have no columns.
static bool has_column(const carom_sweep *s, const char *text) {
    for (int i = 0; i < s->nobserve; ++i)
        if (strcmp(s->observe[i], text) == 0) return true;
    for (int i = 0; !s->def.section && s->def.vary && s->def.vary[i]; ++i)
        if (strncmp(s->def.vary[i], text, strlen(text)) == 0 && s->def.vary[i][strlen(text)] == '=') return true;
    return false;
}

// The model as the file has it: names, sizes, and every word of the sweep that can be wrong.
static carom_status look_at_model(carom_sweep *s, carom_error *err) {
    carom_model_def d = s->def.model;
    d.observe = NULL;
    s->model = carom_model_create(&d, err);
    if (!s->model) return err->code;
    s->nq = carom_model_system(s->model)->nq;
    s->nv = carom_model_system(s->model)->nv;
    CAROM_TRY(carom_section_read(s, s->def.section, err));
    int given = 0;
    while (s->def.observe && s->def.observe[given]) ++given;
    s->observe = calloc((size_t)given + 2, sizeof *s->observe);
    if (!s->observe) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    for (int i = 0; i < given; ++i)
        if (!has_column(s, s->def.observe[i])) s->observe[s->nobserve++] = s->def.observe[i];
    s->observe[s->nobserve] = s->section.expression;
    carom_model *with = NULL;
    d.observe = s->observe;
    with = carom_model_create(&d, err);
    if (!with) return err->code;
    carom_model_destroy(s->model);
    s->model = with;
    if (s->section.kind == SECTION_EVERY && carom_model_observes_state(with, s->nobserve))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "`section every %.100s`: the period depends on the state; use parameters only",
                          s->section.expression);
    return CAROM_OK;
}

// Lanes on request, or for a GPU.
static carom_status make_lanes(carom_sweep *s, carom_error *err) {
    carom_error own = {0};
    const bool gpu = s->def.gpu;
    if (s->def.lanes == CAROM_LANES_OFF && !gpu) return CAROM_OK;
    carom_status status = s->def.start
                              ? carom_fail(&own, CAROM_BAD_INPUT, "runs from a given state are not supported in lanes")
                              : carom_lanes_create(s, &s->lanes, &own);
    if (status == CAROM_OK)
        status = gpu ? carom_gpu_open(s, s->lanes, &s->gpu, &own) : carom_lanes_compile(s, s->lanes, &own);
    if (status == CAROM_OK) return CAROM_OK;
    carom_lanes_destroy(s->lanes);
    s->lanes = NULL;
    if (s->def.lanes == CAROM_LANES_AUTO && !gpu && status != CAROM_NO_MEMORY) return CAROM_OK;
    return carom_fail(err, status == CAROM_IO ? CAROM_BAD_INPUT : status, "%s: %s", gpu ? "`gpu`" : "`lanes on`",
                      own.text);
}

// What is wrong for every run is no row of a table.
static carom_status check_options(const carom_sweep *s, const carom_run *run, carom_error *err) {
    const carom_sim_def def = carom_run_sim(run, s->model);
    CAROM_TRY(carom_sim_check_options(&def, NULL, err));
    for (int i = 0; i < s->nvary; ++i)
        if (s->vary[i].kind == VARY_OPTION)
            CAROM_TRY(carom_sim_check_options(&def, s->vary[i].name + strlen("option."), err));
    return CAROM_OK;
}

// Does time enter the model, with whatever values the varied parameters have?
carom_status carom_sweep_look_for_time(carom_sweep *s, carom_error *err) {
    for (int i = -1; i < s->nvary && s->def.follow != CAROM_FOLLOW_NONE; ++i) {
        carom_forcing f;
        if (i >= 0 && s->vary[i].kind != VARY_PARAMETER) continue;
        CAROM_TRY(carom_model_forcing(s->model, i < 0 ? -1 : s->vary[i].index, &f, err));
        s->driven = s->driven || f.forced;
    }
    return CAROM_OK;
}

static carom_status create(carom_sweep *s, carom_error *err) {
    CAROM_TRY(look_at_model(s, err));
    int n = 0;
    while (s->def.vary && s->def.vary[n]) ++n;
    s->vary = calloc((size_t)n + 1, sizeof *s->vary);
    if (!s->vary) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    for (; s->nvary < n; ++s->nvary) {
        const carom_status status = carom_vary_read(s, &s->vary[s->nvary], s->def.vary[s->nvary], err);
        if (status != CAROM_OK) return ++s->nvary, status;
    }
    CAROM_TRY(check(s, err));
    CAROM_TRY(count(s, err));
    CAROM_TRY(carom_sweep_look_for_time(s, err));
    carom_run run;
    carom_status status = carom_run_resolve(&run, s->model, &s->def.run, err);
    if (status == CAROM_OK) status = check_options(s, &run, err);
    const double steps = status == CAROM_OK ? run.evaluations * (double)s->runs : 0;
    carom_run_free(&run);
    CAROM_TRY(status);
    CAROM_TRY(make_lanes(s, err));
    if (s->lanes) return CAROM_OK; // few runs are left to the engine
    return carom_model_compile(s->model, CAROM_COMPILE_AUTO, steps, NULL, err);
}

carom_sweep *carom_sweep_create(const carom_sweep_def *def, carom_error *err) {
    if (!def) return carom_fail(err, CAROM_BAD_INPUT, "a sweep needs a definition"), NULL;
    carom_sweep *s = calloc(1, sizeof *s);
    if (!s) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep"), NULL;
    s->def = *def;
    if (create(s, err) == CAROM_OK) return s;
    carom_sweep_destroy(s);
    return NULL;
}

void carom_sweep_destroy(carom_sweep *s) {
    if (!s) return;
    for (int i = 0; i < s->nvary; ++i) carom_vary_free(&s->vary[i]);
    for (long i = 0; s->start && i < s->runs; ++i) free(s->start[i]);
    free(s->start);
    free(s->skip);
    free(s->vary);
    free(s->observe);
    free(s->section.expression);
    free(s->section.name);
    carom_gpu_close(s->gpu);
    carom_lanes_destroy(s->lanes);
    for (int i = 0; i < IDLE_MODELS; ++i) carom_model_destroy(atomic_load(&s->idle[i]));
    carom_model_destroy(s->model);
    free(s);
}

void carom_sweep_skip(carom_sweep *s, long run, const double *end) {
    if (!s) return;
    const size_t n = (size_t)carom_sweep_state(s);
    if (run < 0 || run >= s->runs || s->skip[run]) return;
    s->skip[run] = true;
    if (s->def.follow == CAROM_FOLLOW_NONE || !end) return;
    s->start[run] = malloc((n + 1) * sizeof **s->start);
    if (s->start[run]) memcpy(s->start[run], end, n * sizeof *end);
}

// -- threads ---------------------------------------------------------------------------------------------------------

enum { ON_GPU = 1 << 20 }; // runs at once: an interruption loses no more

typedef struct crew {
    carom_sweep *s;
    const carom_sweep_watch *watch;
    pthread_mutex_t lock;
    pthread_cond_t news;
    long next, last;    // chains
    long done, total;   // runs
    long away;          // runs that other processes have and that have not come back
    int ended;          // threads
    carom_status status;
    carom_error err;    // of the GPU
} crew;

// The lock is held.
static void hand_over(crew *c, carom_sweep_row row) {
    double *value = calloc((size_t)c->s->nvary + 1, sizeof *value);
    if (!value) {
        c->status = CAROM_NO_MEMORY;
        return;
    }
    row.direction = carom_sweep_values(c->s, row.run, value);
    row.vary = value;
    if (c->watch->row && !c->watch->row(c->watch->user, &row)) c->status = CAROM_STOPPED;
    ++c->done;
    free(value);
}

static carom_sweep_row row_of(long run, const outcome *o) {
    return (carom_sweep_row){.run = run, .status = o->status, .message = o->message ? o->message : "",
                             .observed = o->observed, .points = o->points, .section = o->section, .end = o->end};
}

// Where the next of its chain starts: a run that failed hands on nothing.
static void work_off(crew *c, long chain) {
    carom_sweep *s = c->s;
    const size_t n = (size_t)carom_sweep_state(s);
    double *start = NULL;
    for (long k = 0; k < carom_sweep_chain(s) && !atomic_load(&s->stop); ++k) {
        const long run = chain * carom_sweep_chain(s) + k;
        if (s->skip[run]) {
            if (s->start[run] && isfinite(s->start[run][0])) {
                free(start);
                start = malloc((n + 1) * sizeof *start);
                if (start) memcpy(start, s->start[run], n * sizeof *start);
            }
            continue;
        }
        outcome o = {0};
        carom_sweep_single(s, run, start, &o);
        pthread_mutex_lock(&c->lock);
        if (o.done) hand_over(c, row_of(run, &o));
        else if (!atomic_load(&s->stop)) c->status = CAROM_NO_MEMORY;
        if (c->status != CAROM_OK) atomic_store(&s->stop, true);
        pthread_cond_signal(&c->news);
        pthread_mutex_unlock(&c->lock);
        if (s->def.follow != CAROM_FOLLOW_NONE && o.status == 0) {
            free(start);
            start = o.end;
            o.end = NULL;
        }
        carom_outcome_free(&o);
    }
    free(start);
}

// Runs first to before last, at once.  What the GPU says, if it fails, goes to err.
static void work_off_block(crew *c, long first, long last, carom_error *err) {
    carom_sweep *s = c->s;
    carom_status failed = CAROM_OK;
    outcome *o = calloc((size_t)(last - first), sizeof *o);
    if (o && s->gpu) failed = carom_gpu_block(s, first, last, o, err);
    else if (o) carom_lanes_block(s, first, last, o);
    pthread_mutex_lock(&c->lock);
    if (failed != CAROM_OK && c->status == CAROM_OK) c->status = failed;
    for (long i = first; i < last; ++i) {
        if (!s->skip[i] && o && o[i - first].done && c->status == CAROM_OK) hand_over(c, row_of(i, &o[i - first]));
        else if (!s->skip[i] && !atomic_load(&s->stop) && c->status == CAROM_OK) c->status = CAROM_NO_MEMORY;
        if (o) carom_outcome_free(&o[i - first]);
    }
    if (c->status != CAROM_OK) atomic_store(&s->stop, true);
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
    free(o);
}

// Chains that are done at once; without --follow a chain is a run.
static long block_of(const carom_sweep *s) { return s->gpu ? ON_GPU : s->lanes ? s->lanes->block : 1; }

// Is there a chain to do?  The lock is held.
static bool have_more(crew *c) {
    return !atomic_load(&c->s->stop) &&
           (c->next < c->last || (c->watch->fetch && c->watch->fetch(c->watch->user, &c->next, &c->last)));
}

static void *worker(void *user) {
    crew *c = user;
    const long block = block_of(c->s);
    pthread_mutex_lock(&c->lock);
    while (have_more(c)) {
        const long chain = c->next, end = c->last - chain < block ? c->last : chain + block;
        c->next = end;
        pthread_mutex_unlock(&c->lock);
        if (c->s->lanes) work_off_block(c, chain, end, &c->err);
        else work_off(c, chain);
        pthread_mutex_lock(&c->lock);
    }
    ++c->ended;
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void look_after(crew *c, int started) {
    pthread_mutex_lock(&c->lock);
    while (c->ended < started || (c->away > 0 && !atomic_load(&c->s->stop))) {
        carom_news_wait(&c->news, &c->lock, c->watch->often ? 1 : 100);
        const long done = c->done;
        pthread_mutex_unlock(&c->lock);
        if (c->watch->tick && !c->watch->tick(c->watch->user, done, c->total)) atomic_store(&c->s->stop, true);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

// -- other processes --------------------------------------------------------------------------------------------------

static long runs_left(const carom_sweep *s, long first, long last) { // runs of these chains that are not done
    long n = 0;
    for (long run = first * carom_sweep_chain(s); run < last * carom_sweep_chain(s); ++run) n += !s->skip[run];
    return n;
}

// A fixed share of what is left: large at the beginning, so that few ask; small at the end, so that none waits long for
// the last.
bool carom_sweep_give(carom_sweep *s, int processes, long *first, long *last) {
    if (!s || !first || !last) return false;
    enum { SHARES = 16 }; // of each process
    crew *c = s->crew;
    pthread_mutex_lock(&c->lock);
    const long left = c->last - c->next, share = left / (SHARES * (long)processes), block = block_of(s),
               n = share > block ? share : block;
    const bool some = left > 0 && !atomic_load(&s->stop);
    *first = c->next;
    *last = !some ? c->next : left < n ? c->last : c->next + n;
    c->next = *last;
    c->away += runs_left(s, *first, *last);
    pthread_mutex_unlock(&c->lock);
    return some;
}

void carom_sweep_accept(carom_sweep *s, const carom_sweep_row *row) {
    if (!s || !row) return;
    crew *c = s->crew;
    pthread_mutex_lock(&c->lock);
    hand_over(c, *row);
    --c->away;
    if (c->status != CAROM_OK) atomic_store(&s->stop, true);
    pthread_mutex_unlock(&c->lock);
}

carom_status carom_sweep_run(carom_sweep *s, const carom_sweep_watch *watch, carom_error *err) {
    if (!s) return CAROM_MISSING(err);
    static const carom_sweep_watch silent = {0};
    crew c = {.s = s, .watch = watch ? watch : &silent};
    if (!c.watch->fetch) mine(s, &c.next, &c.last);
    c.total = runs_left(s, c.next, c.last);
    atomic_store(&s->stop, false);
    if (c.total == 0 && !c.watch->fetch) return CAROM_OK;
    const long most = c.watch->fetch ? chains(s) : c.last - c.next;
    const int wanted = s->gpu ? 1 : s->def.jobs > 1 ? s->def.jobs < most ? s->def.jobs : (int)most : 1;
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    if (!threads) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d threads", wanted);
    pthread_mutex_init(&c.lock, NULL);
    carom_news_init(&c.news);
    s->crew = &c;
    int started = 0;
    while (started < wanted && pthread_create(&threads[started], NULL, worker, &c) == 0) ++started;
    if (started > 0) look_after(&c, started);
    for (int i = 0; i < started; ++i) pthread_join(threads[i], NULL);
    s->crew = NULL;
    pthread_cond_destroy(&c.news);
    pthread_mutex_destroy(&c.lock);
    free(threads);
    if (started == 0) return carom_fail(err, CAROM_NO_MEMORY, "cannot start a thread");
    if (c.status == CAROM_NO_MEMORY)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the runs of the sweep");
    if (c.err.text[0] && c.status != CAROM_STOPPED) return carom_fail(err, c.status, "`gpu`: %s", c.err.text);
    return atomic_load(&s->stop) ? carom_fail(err, CAROM_STOPPED, "stopped") : CAROM_OK;
}
