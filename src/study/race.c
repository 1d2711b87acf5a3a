// race.c: the runs of a comparison, on several threads.
//
// Workers take jobs in their order; every job has its own simulation and trajectory, so that its numbers do not depend on
// who runs it.  The calling thread waits, tells rows in the jobs' order and asks the front end whether to go on.
#define _POSIX_C_SOURCE 200809L // clock_gettime, pthread_cond_timedwait
#include "study/compare.h"
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
    long stride, total, nl;
    bool jumps;   // wanted
    int jumped;   // times of jumps since the last node
    double when;  // the last of them
    bool counted; // steps count as progress
} recorder;

static bool impulsive(const carom_now *now, long nl) {
    for (long i = 0; i < nl; ++i)
        if (now->impulse[i] != 0) return true;
    return false;
}

// Impacts are where their events say, inside the step for schemes that find them; other impulses act at its end.
static void note_jumps(recorder *r, const carom_now *now) {
    const int before = r->jumped;
    for (int i = 0; i < now->nevents; ++i) {
        const carom_event *e = &now->events[i];
        if (e->kind == CAROM_IMPACT && (r->jumped == before || e->t != r->when)) ++r->jumped, r->when = fmin(e->t, now->t);
    }
    if (r->jumped == before && impulsive(now, r->nl)) ++r->jumped, r->when = now->t;
}

static carom_status on_step(void *user, const carom_now *now) {
    recorder *r = user;
    if (r->jumps) note_jumps(r, now);
    if (r->stride == 1 || now->step % r->stride == 0 || now->step == r->total) {
        carom_trajectory_add(&r->tr, now->t, now->q, now->v, r->jumped == 0 ? NAN : r->jumped == 1 ? r->when : now->t);
        r->jumped = 0;
    }
    if ((now->step & LOOK) != 0) return CAROM_OK;
    if (r->counted) atomic_fetch_add(&r->c->progress, LOOK + 1);
    return atomic_load(&r->c->stop) ? CAROM_STOPPED : CAROM_OK;
}

// From the start to the end; the trajectory's memory is there already on a second time.
static carom_status run(recorder *r, carom_sim *sim, carom_ledger *ledger, carom_error *err) {
    const carom_system *sys = carom_model_system(r->c->model);
    const carom_now now = carom_sim_now(sim);
    r->total = carom_sim_total_steps(sim);
    r->nl = now.dir[sys->ne + sys->nc];
    if (!r->tr.t) CAROM_TRY(carom_trajectory_create(&r->tr, r->c->of.nv, r->total / r->stride + 2, err));
    r->tr.count = 0;
    r->jumped = 0;
    carom_trajectory_add(&r->tr, now.t, now.q, now.v, NAN);
    const carom_status status = carom_sim_run(sim, on_step, r, err);
    if (status == CAROM_STOPPED) carom_fail(err, status, "stopped");
    carom_error other;
    if (carom_sim_ledger(sim, ledger, &other) != CAROM_OK) ledger->seconds = NAN;
    return status;
}

// -- errors ---------------------------------------------------------------------------------------------------

static carom_status by_rows(const carom_compare *c, const carom_trajectory *tr, scratch *w, double *error, carom_error *err) {
    carom_norm norm;
    CAROM_TRY(carom_norm_begin(&norm, c->norm, c->of.n, err));
    w->hint = 0;
    for (long k = 0; k < tr->count; ++k) {
        const double t = tr->t[k];
        const size_t at = (size_t)k * (size_t)tr->n;
        carom_quantities_eval(&c->of, w, t, tr->q + at, tr->v + at, w->x);
        carom_reference_at(&c->reference, w, t, CAROM_RIGHT, w->y);
        for (int j = 0; j < c->of.n; ++j) w->x[j] -= w->y[j];
        carom_norm_add(&norm, k > 0 ? t - tr->t[k - 1] : 0, w->x);
    }
    *error = carom_norm_value(&norm);
    carom_norm_end(&norm);
    return CAROM_OK;
}

// The largest distance among the quantities.
static carom_status by_graphs(const carom_compare *c, const carom_trajectory *tr, scratch *w, double *error, carom_error *err) {
    const reference mine = {.kind = REFERENCE_RUN, .of = &c->of, .tr = *tr};
    carom_status status = CAROM_OK;
    *error = 0;
    for (int j = 0; j < c->of.n && status == CAROM_OK; ++j) {
        carom_polyline f = {0}, g = {0};
        double distance = NAN;
        status = carom_reference_graph(&f, &mine, w, j, c->end, 0, err);
        if (status == CAROM_OK) status = carom_reference_graph(&g, &c->reference, w, j, c->end, c->steps[c->nsteps - 1], err);
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
        carom_sim *sim = carom_compare_sim(r->c, &r->c->schemes[j->scheme], j->step, &err);
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
    j->steps = ledger.steps;
    j->seconds = ledger.seconds;
    if (status == CAROM_OK) status = time_again(r, j, &j->seconds);
    w.work = carom_sim_work(sim);
    if (status == CAROM_OK) status = (c->norm == CAROM_NORM_HAUSDORFF ? by_graphs : by_rows)(c, &r->tr, &w, &j->error, &j->failure);
    carom_scratch_destroy(&w);
    return status;
}

static void work_off(carom_compare *c, job *j) {
    recorder r = {.c = c, .stride = 1, .jumps = c->norm == CAROM_NORM_HAUSDORFF, .counted = true};
    carom_sim *sim = carom_compare_sim(c, &c->schemes[j->scheme], j->step, &j->failure);
    j->status = sim ? measure(&r, j, sim) : j->failure.code;
    if (j->status != CAROM_OK) j->error = NAN;
    carom_sim_destroy(sim);
    carom_trajectory_destroy(&r.tr);
}

static carom_status run_reference(carom_compare *c, carom_error *err) {
    recorder r = {.c = c, .stride = c->stride, .jumps = true, .counted = true};
    carom_ledger ledger;
    carom_error why = {0};
    carom_sim *sim = carom_compare_sim(c, &c->against, c->against_step, &why);
    const carom_status status = sim ? run(&r, sim, &ledger, &why) : why.code;
    carom_sim_destroy(sim);
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

static void tell(carom_compare *c, job *j, int i, const carom_compare_watch *watch) {
    for (int k = i - c->nschemes; k >= 0 && isnan(j->order); k -= c->nschemes) {
        const job *larger = &c->jobs[k];
        if (larger->told && larger->error > 0 && j->error > 0) j->order = log(larger->error / j->error) / log(larger->step / j->step);
    }
    j->told = true;
    if (!watch->row) return;
    const carom_compare_row row = carom_compare_row_at(c, j->scheme, i / c->nschemes);
    watch->row(watch->user, &row);
}

// Rows that are done, up to the first that is not; all of them when `rest`.  The lock is held, but given away meanwhile.
static void tell_rows(race *r, const carom_compare_watch *watch, int *first, bool rest) {
    carom_compare *c = r->c;
    for (int i = *first; i < c->njobs && (rest || c->jobs[i].done); ++i) {
        if (!rest) *first = i + 1;
        if (!c->jobs[i].done || c->jobs[i].told) continue;
        pthread_mutex_unlock(&r->lock);
        tell(c, &c->jobs[i], i, watch);
        pthread_mutex_lock(&r->lock);
    }
}

static void wait_a_moment(race *r) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    pthread_cond_timedwait(&r->news, &r->lock, &until);
}

static void look_after(race *r, int started, const carom_compare_watch *watch) {
    carom_compare *c = r->c;
    int first = 0;
    pthread_mutex_lock(&r->lock);
    while (r->ended < started) {
        wait_a_moment(r);
        if (!r->alone) tell_rows(r, watch, &first, false);
        pthread_mutex_unlock(&r->lock);
        const double part = (double)atomic_load(&c->progress) / (double)(c->total > 0 ? c->total : 1);
        if (watch->tick && !watch->tick(watch->user, part < 1 ? part : 1)) atomic_store(&c->stop, true);
        pthread_mutex_lock(&r->lock);
    }
    if (!r->alone) tell_rows(r, watch, &first, true);
    pthread_mutex_unlock(&r->lock);
}

static carom_status hold(carom_compare *c, bool alone, const carom_compare_watch *watch, carom_error *err) {
    const int wanted = alone ? 1 : c->threads < c->njobs ? c->threads : c->njobs;
    race r = {.c = c, .alone = alone};
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    if (!threads) return carom_fail(err, CAROM_NO_MEMORY, "no memory for %d threads", wanted);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.news, NULL);
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
    const carom_compare_watch silent = {0};
    if (!watch) watch = &silent;
    carom_status status = CAROM_OK;
    if (c->reference.kind == REFERENCE_RUN && c->reference.tr.count == 0) status = hold(c, true, watch, err);
    if (status == CAROM_OK) status = hold(c, false, watch, err);
    if (status == CAROM_OK && atomic_load(&c->stop)) status = carom_fail(err, CAROM_STOPPED, "the comparison was stopped");
    return status;
}
