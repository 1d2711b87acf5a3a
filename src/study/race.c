// race.c: the runs of a comparison, on several threads.
//
// Workers take jobs in their order; every job has its own simulation and trajectory, so that its numbers do not depend
// on who runs it.  The calling thread waits, tells rows in the jobs' order and asks the front end whether to go on.
#define _POSIX_C_SOURCE 200809L // clock_gettime, pthread_cond_timedwait
#include "base/missing.h"
#include "base/news.h"
#include "model/answers.h"
#include "study/compare.h"
#include "study/norm.h"
#include "study/trajectory.h"
#include <carom/matrix.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static const double SHORT = 0.02; // s; a run below this is timed again
enum { AGAIN = 4, LOOK = 255 };   // at most so many times; how often a run looks up, steps - 1

// -- one run ------------------------------------------------------------------------------------------------

typedef struct recorder {
    carom_compare *c;
    carom_trajectory tr;
    double *dq;       // rates of positions, where these are not the velocities; else NULL
    long stride, total, nl;
    size_t most;      // bytes that the trajectory may take
    bool events;      // both sides of located events are nodes too
    bool inner;       // steps inside steps are nodes too
    bool located;     // the scheme has located an event in this step
    bool jumped;      // impulses since the last node, and nothing says when they acted
    bool dense;       // nodes are the dense output inside steps, and the two ends of the run
    bool counted;     // steps count as progress
    long seen, units; // nodes so far; progress told
    carom_status status;
    carom_error *err; // why no node could be added
} recorder;

static bool impulsive(const carom_now *now, long nl) {
    for (long i = 0; i < nl; ++i)
        if (now->impulse[i] != 0) return true;
    return false;
}

// Nodes behind t, or behind and at it, come from a step that was refused, or are about to be replaced.
static void drop(carom_trajectory *tr, double t, bool at_too) {
    while (tr->count > 0 && (tr->t[tr->count - 1] > t || (at_too && tr->t[tr->count - 1] == t))) --tr->count;
}

static carom_status append(recorder *r, double t, const double *q, const double *v, double jump) {
    carom_trajectory *tr = &r->tr;
    if (r->dq) carom_model_rates(r->c->model, q, v, r->dq);
    if (tr->count == tr->room) {
        const long room = tr->room + tr->room / 4 + 64;
        if (carom_trajectory_bytes(tr->n, room) > r->most)
            return carom_fail(
                r->err, CAROM_NO_MEMORY,
                "t = %.9g: the trajectory requires more than %.3g GB; a larger tolerance or an earlier end may do", t,
                1e-9 * (double)r->most);
        CAROM_TRY(carom_trajectory_reserve(tr, room, r->err));
    }
    carom_trajectory_add(tr, t, q, r->dq ? r->dq : v, jump);
    return CAROM_OK;
}

// The end of a step.  An event there has left its two sides; the end of the step is the right one.
static carom_status add(recorder *r, double t, const double *q, const double *v, double jump) {
    carom_trajectory *tr = &r->tr;
    drop(tr, t, false);
    const bool sides = tr->count > 1 && tr->t[tr->count - 1] == t && tr->t[tr->count - 2] == t;
    if (sides) --tr->count;
    else drop(tr, t, true);
    return append(r, t, q, v, sides ? NAN : jump);
}

// Now and then: tell the progress, and look whether to go on.
static carom_status look_up(recorder *r, long step, double t) {
    if ((step & LOOK) != 0) return CAROM_OK;
    const long units = r->total > 0 ? step : (long)(CAROM_COMPARE_UNITS * t / r->c->end);
    if (r->counted) atomic_fetch_add(&r->c->progress, units - r->units);
    r->units = units;
    return atomic_load(&r->c->stop) ? CAROM_STOPPED : CAROM_OK;
}

static bool stop_asked(const void *user) { return atomic_load(&((carom_compare *)user)->stop); }

static carom_status on_inner(void *user, double t, const double *q, const double *v) {
    recorder *r = user;
    r->status = add(r, t, q, v, NAN);
    return r->status == CAROM_OK ? look_up(r, ++r->seen, t) : r->status;
}

static carom_status on_dense(void *user, double t, const double *q, const double *v) {
    recorder *r = user;
    return r->status = add(r, t, q, v, NAN);
}

// Several events at one time: left of the first, right of the last.
static carom_status on_event(void *user, carom_side side, double t, const double *q, const double *v) {
    recorder *r = user;
    carom_trajectory *tr = &r->tr;
    drop(tr, t, false);
    const bool left = tr->count > 0 && tr->t[tr->count - 1] == t,
               both = left && tr->count > 1 && tr->t[tr->count - 2] == t;
    if (side == CAROM_LEFT && left) return CAROM_OK;
    if (side == CAROM_RIGHT && both) --tr->count;
    r->located = true;
    return r->status = append(r, t, q, v, NAN);
}

static carom_status on_step(void *user, const carom_now *now) {
    recorder *r = user;
    // the last node inside is this one, with its constraints met
    if (r->inner) return r->status = add(r, now->t, now->q, now->v, NAN);
    r->jumped = r->jumped || (!r->located && impulsive(now, r->nl));
    r->located = false;
    const bool ends = now->t >= r->c->end;
    if (r->dense ? ends : r->stride == 1 || now->step % r->stride == 0 || now->step == r->total) {
        r->status = add(r, now->t, now->q, now->v, r->jumped ? INFINITY : NAN);
        r->jumped = false;
    }
    return r->status == CAROM_OK ? look_up(r, now->step, now->t) : r->status;
}

// From the start to the end; the trajectory's memory is there already on a second time.
static carom_status run(recorder *r, carom_sim *sim, carom_ledger *ledger, carom_error *err) {
    const carom_system *sys = carom_model_system(r->c->model);
    const carom_now now = carom_sim_now(sim);
    r->total = r->inner ? 0 : carom_sim_total_steps(sim);
    r->nl = now.dir[sys->ne + sys->nc];
    r->err = err;
    r->seen = r->units = 0;
    if (!r->dq && r->c->of.turns && !(r->dq = calloc((size_t)sys->nq, sizeof *r->dq)))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a run");
    if (!r->tr.t)
        CAROM_TRY(carom_trajectory_create(&r->tr, r->c->of.nq, r->total > 0 ? r->total / r->stride + 2 : 1024, err));
    if (r->inner) carom_sim_watch_inner(sim, on_inner, r);
    if (r->events) carom_sim_watch_events(sim, on_event, r);
    if (r->dense) carom_sim_watch_dense(sim, CAROM_COMPARE_DENSE, on_dense, r);
    carom_sim_stop_when(sim, stop_asked, r->c);
    r->tr.count = 0;
    r->jumped = r->located = false;
    CAROM_TRY(add(r, now.t, now.q, now.v, NAN));
    carom_error why = {0};
    carom_status status = carom_sim_run(sim, on_step, r, &why);
    if (r->status != CAROM_OK) status = r->status; // err says why
    else if (status == CAROM_STOPPED) carom_fail(err, status, "stopped");
    else if (status != CAROM_OK) *err = why;
    if (r->counted && r->total == 0) atomic_fetch_add(&r->c->progress, CAROM_COMPARE_UNITS - r->units);
    carom_error other;
    if (carom_sim_ledger(sim, ledger, &other) != CAROM_OK) ledger->seconds = NAN;
    return status;
}

// -- errors ---------------------------------------------------------------------------------------------------

static carom_status by_rows(const carom_compare *c, const carom_trajectory *tr, scratch *w, double *error,
                            carom_error *err) {
    carom_norm norm, whole; // of the differences; of the reference
    CAROM_TRY(carom_norm_begin(&norm, c->norm, c->p, c->of.n, err));
    if (carom_norm_begin(&whole, c->norm, c->p, c->of.n, err) != CAROM_OK)
        return carom_norm_end(&norm), CAROM_NO_MEMORY;
    w->hint = 0;
    for (long k = 0; k < tr->count; ++k) {
        const double t = tr->t[k];
        const size_t at = (size_t)k * (size_t)tr->n;
        carom_quantities_eval(&c->of, w, t, tr->q + at, tr->v + at, w->x);
        carom_reference_at(&c->reference, w, t, CAROM_RIGHT, w->y);
        // the start weighs as the first step
        if (c->relative) carom_norm_add(&whole, k > 0 ? t - tr->t[k - 1] : tr->t[tr->count > 1] - t, w->y);
        carom_quantities_subtract(&c->of, w->x, w->y);
        carom_norm_add(&norm, k > 0 ? t - tr->t[k - 1] : 0, w->x);
    }
    *error = carom_norm_value(&norm);
    const double size = c->relative ? carom_norm_value(&whole) : 1;
    carom_norm_end(&norm);
    carom_norm_end(&whole);
    if (size == 0) return carom_fail(err, CAROM_BAD_INPUT, "the reference is zero: the relative error is undefined");
    *error /= size;
    return CAROM_OK;
}

// The largest distance among the quantities.
static carom_status by_graphs(const carom_compare *c, const carom_trajectory *tr, scratch *w, double *error,
                              carom_error *err) {
    const reference mine = {.kind = REFERENCE_RUN, .of = &c->of, .tr = *tr};
    carom_status status = CAROM_OK;
    *error = 0;
    for (int j = 0; j < c->of.n && status == CAROM_OK; ++j) {
        carom_polyline f = {0}, g = {0};
        double distance = NAN;
        status = carom_reference_graph(&f, &mine, w, j, c->end, 0, err);
        if (status == CAROM_OK) status = carom_reference_graph(&g, &c->reference, w, j, c->end, c->fine, err);
        if (status == CAROM_OK) status = carom_hausdorff(&f, &g, &distance, err);
        if (!isnan(*error) && !(distance <= *error)) *error = distance; // NaN stays
        free(f.t);
        free(f.x);
        free(g.t);
        free(g.x);
    }
    return status;
}

// -- one job --------------------------------------------------------------------------------------------------

static carom_status time_again(recorder *r, const job *j, double *seconds) {
    r->counted = false;
    for (int i = 0; i < AGAIN && *seconds < SHORT; ++i) {
        carom_error err;
        carom_ledger ledger;
        carom_sim *sim = carom_compare_sim(r->c, &r->c->schemes[j->scheme], j->step, j->tolerance, &err);
        const carom_status status = sim ? run(r, sim, &ledger, &err) : err.code;
        carom_sim_destroy(sim);
        CAROM_TRY(status);
        *seconds = fmin(*seconds, ledger.seconds);
    }
    return CAROM_OK;
}

static carom_status measure(recorder *r, job *j, carom_sim *sim) {
    carom_compare *c = r->c;
    carom_ledger ledger = {0};
    scratch w = {0};
    carom_status status = carom_scratch_create(&w, &c->of, &j->failure);
    if (status == CAROM_OK) status = run(r, sim, &ledger, &j->failure);
    j->steps = r->inner && ledger.counts.substeps > 0 ? ledger.counts.substeps : ledger.steps;
    j->rejected = ledger.rejected + (r->inner ? ledger.counts.substeps_rejected : 0);
    j->seconds = ledger.seconds;
    carom_warning list[CAROM_WARNINGS];
    if (status == CAROM_OK && carom_sim_warnings(sim, &ledger, list) > 0) j->warning = list[0];
    if (status == CAROM_OK) status = time_again(r, j, &j->seconds);
    w.work = carom_sim_work(sim);
    if (status == CAROM_OK)
        status = (c->norm == CAROM_NORM_HAUSDORFF ? by_graphs : by_rows)(c, &r->tr, &w, &j->error, &j->failure);
    carom_scratch_destroy(&w);
    return status;
}

static void work_off(carom_compare *c, job *j) {
    const spec *s = &c->schemes[j->scheme];
    recorder r = {.c = c,
                  .stride = 1,
                  .most = c->most,
                  .events = c->norm == CAROM_NORM_HAUSDORFF,
                  .inner = s->adaptive && s->divides,
                  .dense = c->dense,
                  .counted = true};
    carom_sim *sim = carom_compare_sim(c, s, j->step, j->tolerance, &j->failure);
    j->status = sim ? measure(&r, j, sim) : j->failure.code;
    if (j->status != CAROM_OK) j->error = NAN;
    carom_sim_destroy(sim);
    carom_trajectory_destroy(&r.tr);
    free(r.dq);
}

static carom_status run_reference(carom_compare *c, carom_error *err) {
    recorder r = {.c = c, .stride = c->stride, .most = c->memory, .events = true, .counted = true};
    carom_ledger ledger;
    carom_error why = {0};
    carom_sim *sim = carom_compare_sim(c, &c->against, c->against_step, c->against_tolerance, &why);
    const carom_status status = sim ? run(&r, sim, &ledger, &why) : why.code;
    carom_sim_destroy(sim);
    free(r.dq);
    carom_reference_destroy(&c->reference);
    c->reference.tr = r.tr;
    if (status == CAROM_OK) return CAROM_OK;
    return carom_fail(err, status, "the reference (%.200s) failed: %.700s", c->about, why.text);
}

// -- threads --------------------------------------------------------------------------------------------------

typedef struct race {
    carom_compare *c;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool alone;             // this race is the reference by itself
    int next, ended;        // next job; workers that have ended
    carom_status status;    // of the reference
    carom_error err;
} race;

static void *worker(void *user) {
    race *r = user;
    carom_compare *c = r->c;
    if (r->alone) r->status = run_reference(c, &r->err);
    pthread_mutex_lock(&r->lock);
    while (!r->alone && r->next < c->njobs && !atomic_load(&c->stop)) {
        job *j = &c->jobs[r->next++];
        pthread_mutex_unlock(&r->lock);
        work_off(c, j);
        pthread_mutex_lock(&r->lock);
        j->done = j->status != CAROM_STOPPED;
        pthread_cond_signal(&r->news);
    }
    ++r->ended;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void tell(carom_compare *c, job *j, const carom_compare_watch *watch) {
    const int *at = c->at + j->scheme * c->levels;
    int level = 0;
    while (&c->jobs[at[level]] != j) ++level;
    const double h = carom_compare_mean_step(c, j);
    for (int k = level - 1; k >= 0 && isnan(j->order); --k) {
        const job *larger = &c->jobs[at[k]];
        const double ratio = carom_compare_mean_step(c, larger) / h;
        if (larger->told && larger->error > 0 && j->error > 0 && ratio > 1)
            j->order = log(larger->error / j->error) / log(ratio);
    }
    j->told = true;
    if (!watch->row) return;
    const carom_compare_row row = carom_compare_row_at(c, j->scheme, level);
    watch->row(watch->user, &row);
}

// Rows that are done, up to the first that is not; all of them when `rest`.  The lock is held, but given away
// meanwhile.
static void report_rows(race *r, const carom_compare_watch *watch, int *first, bool rest) {
    carom_compare *c = r->c;
    for (int i = *first; i < c->njobs && (rest || c->jobs[i].done); ++i) {
        if (!rest) *first = i + 1;
        if (!c->jobs[i].done || c->jobs[i].told) continue;
        pthread_mutex_unlock(&r->lock);
        tell(c, &c->jobs[i], watch);
        pthread_mutex_lock(&r->lock);
    }
}

static void look_after(race *r, int started, const carom_compare_watch *watch) {
    carom_compare *c = r->c;
    int first = 0;
    pthread_mutex_lock(&r->lock);
    while (r->ended < started) {
        carom_news_wait(&r->news, &r->lock, 100);
        if (!r->alone) report_rows(r, watch, &first, false);
        pthread_mutex_unlock(&r->lock);
        const double part = (double)atomic_load(&c->progress) / (double)(c->total > 0 ? c->total : 1);
        if (watch->tick && !watch->tick(watch->user, part < 1 ? part : 1)) atomic_store(&c->stop, true);
        pthread_mutex_lock(&r->lock);
    }
    if (!r->alone) report_rows(r, watch, &first, true);
    pthread_mutex_unlock(&r->lock);
}

static carom_status hold(carom_compare *c, bool alone, const carom_compare_watch *watch, carom_error *err) {
    const int wanted = alone ? 1 : c->threads < c->njobs ? c->threads : c->njobs;
    race r = {.c = c, .alone = alone};
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    if (!threads) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d threads", wanted);
    pthread_mutex_init(&r.lock, NULL);
    carom_news_init(&r.news);
    int started = 0;
    while (started < wanted && pthread_create(&threads[started], NULL, worker, &r) == 0) ++started;
    if (started > 0) look_after(&r, started, watch);
    for (int i = 0; i < started; ++i) pthread_join(threads[i], NULL);
    pthread_cond_destroy(&r.news);
    pthread_mutex_destroy(&r.lock);
    free(threads);
    if (started == 0) return carom_fail(err, CAROM_NO_MEMORY, "cannot start a thread");
    if (r.status != CAROM_OK) return carom_fail(err, r.status, "%s", r.err.text);
    return CAROM_OK;
}

carom_status carom_compare_run(carom_compare *c, const carom_compare_watch *watch, carom_error *err) {
    if (!c) return CAROM_MISSING(err);
    const carom_compare_watch silent = {0};
    if (!watch) watch = &silent;
    carom_status status = CAROM_OK;
    if (c->reference.kind == REFERENCE_RUN && c->reference.tr.count == 0) status = hold(c, true, watch, err);
    if (status == CAROM_OK) status = hold(c, false, watch, err);
    if (status == CAROM_OK && atomic_load(&c->stop))
        status = carom_fail(err, CAROM_STOPPED, "the comparison was stopped");
    return status;
}
