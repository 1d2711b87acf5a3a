// evaluate.c: results of one run for a search: with derivatives, with values alone, or as any scheme gives them.
#include "base/tolerance.h"
#include "dynamics/adjoint.h"
#include "dynamics/optimise.h"
#include "model/answers.h"
#include "scheme/advice.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 10 }; // names: with more the way back is shorter

carom_status carom_evaluate_open(search *k) {
    const carom_optimise_def *d = k->def;
    k->simple = (carom_task){.model = d->model,
                             .run = d->run,
                             .start = d->start,
                             .signals = d->signals,
                             .option = d->maximise ? "`maximise`" : "`minimise`"};
    k->task = k->simple;
    carom_results r;
    carom_status status = carom_results_read(&r, k->texts, k->task.option, k->err);
    if (status == CAROM_OK) {
        k->task.model.observe = k->simple.model.observe = r.expression;
        status = carom_task_open(&k->task, (const char *const *)k->o->name, k->err);
        if (status == CAROM_OK) status = carom_task_open(&k->simple, (const char *const *)k->o->name, k->err);
    }
    k->task.model.observe = k->simple.model.observe = NULL;
    carom_results_free(&r);
    CAROM_TRY(status);
    carom_error why = {0};
    if (d->method && strcmp(d->method, "cobyla") == 0) k->given = true;
    if (carom_task_derivable(&k->task, 50, &why) != CAROM_OK) k->plain = true; // the first evaluation says why
    return CAROM_OK;
}

static carom_status follow(search *k, carom_task *t, carom_results *r, carom_task_run *run, carom_path *w, bool derive,
                           carom_error *err) {
    t->model.observe = r->expression;
    const carom_status begun = carom_task_begin(t, k->x, t->run.end, run, err);
    t->model.observe = NULL;
    CAROM_TRY(begun);
    k->o->scheme = carom_sim_scheme(run->sim)->name;
    const int columns = derive ? t->nfree : 0;
    CAROM_TRY(carom_results_bind(r, run->model, columns, t->option, err));
    carom_results_attach(r, w, run->sim);
    w->plain = !derive;
    carom_sim_stop_when(run->sim, k->def->stop, k->def->stop_user);
    CAROM_TRY(derive ? carom_task_columns(t, run, w, r->nz, err)
                     : carom_path_open(w, run->model, run->sim, 0, NULL, 0, NULL, r->nz, err));
    for (int j = 0; j < columns; ++j) w->unit[j] = k->x[j] != 0 ? fabs(k->x[j]) : k->o->high[j] - k->o->low[j];
    CAROM_TRY(carom_results_start(r, 0, run->x, run->x + carom_model_system(run->model)->nq));
    const carom_status status = carom_path_run(w);
    if (status != CAROM_OK && !(status == CAROM_STOPPED && carom_results_complete(r))) return status;
    CAROM_TRY(derive && isnan(t->run.end) ? carom_results_end(r, k->result, k->slopes)
                                          : carom_results_now(r, k->result, derive ? k->slopes : NULL));
    k->distance = INFINITY;
    for (int j = 0; j < columns; ++j) k->distance = fmin(k->distance, r->grazing[j].distance / w->unit[j]);
    return CAROM_OK;
}

// Many names: result after result, on the way back.
static carom_status go_back(search *k, carom_error *err) {
    carom_task *t = &k->task;
    carom_status status = CAROM_OK;
    for (int i = 0; k->texts[i] && status == CAROM_OK; ++i) {
        const char *one[] = {k->texts[i], NULL};
        carom_results r;
        carom_task_run run = {0};
        double at;
        status = carom_results_read(&r, one, t->option, err);
        t->model.observe = r.expression;
        if (status == CAROM_OK) status = carom_task_begin(t, k->x, t->run.end, &run, err);
        t->model.observe = NULL;
        if (status == CAROM_OK) k->o->scheme = carom_sim_scheme(run.sim)->name;
        if (status == CAROM_OK)
            status = carom_adjoint_find(t, &run, &r, k->texts[i], k->def->stop, k->def->stop_user, &k->result[i],
                                        k->slopes + (size_t)i * (size_t)t->nfree, &at, err);
        carom_task_end(&run);
        carom_results_free(&r);
    }
    k->distance = INFINITY;
    return status;
}

carom_status carom_evaluate_path(search *k, bool derive, carom_error *err) {
    carom_results r;
    carom_task_run run = {0};
    carom_path w = {0};
    if (derive && !k->plain && !k->forwards && k->task.nfree > MANY * (1 + 2 * k->o->nsubject)) {
        const carom_status back = go_back(k, err);
        if (back != CAROM_UNSUPPORTED) return back;
        k->forwards = true;
    }
    if (k->plain)
        return carom_task_derivable(&k->task, 50, err) == CAROM_OK
                   ? carom_fail(err, CAROM_UNSUPPORTED, "the scheme has no derivatives")
                   : err->code;
    carom_status status = carom_results_read(&r, k->texts, k->task.option, err);
    if (status == CAROM_OK) status = follow(k, &k->task, &r, &run, &w, derive, err);
    carom_path_close(&w);
    carom_task_end(&run);
    carom_results_free(&r);
    return status;
}

// -- any scheme ---------------------------------------------------------------------------------------------------

typedef struct plain {
    search *k;
    carom_results r;
    carom_task_run run;
    carom_average *average;
    double *time; // of events that were found
    carom_error *err;
} plain;

// Times of events that the scheme tells.
static carom_status note_events(plain *p, const carom_now *now) {
    static const carom_event_kind kinds[CAROM_AT_COUNT] = {CAROM_IMPACT, CAROM_CLOSE, CAROM_OPEN, CAROM_STICK,
                                                           CAROM_SLIP};
    for (int i = 0; i < p->r.all; ++i) {
        carom_at_event *e = &p->r.event[i];
        double last = NAN;
        for (int k = 0; e->some && !e->found && k < now->nevents; ++k) {
            const carom_event *x = &now->events[k];
            if (x->kind != kinds[e->word] || !carom_model_contact_is(p->run.model, e->id, x->contact) || x->t == last)
                continue;
            last = x->t;
            if (++e->seen < e->number) continue;
            e->found = true, p->time[i] = x->t;
        }
    }
    return carom_results_complete(&p->r) ? CAROM_STOPPED : CAROM_OK;
}

static carom_status on_step(void *user, const carom_now *now) {
    plain *p = user;
    carom_model_average(p->run.model, carom_sim_work(p->run.sim), now->t, now->q, now->v, p->average, now->step == 0);
    return note_events(p, now);
}

static carom_status run_plain(plain *p) {
    search *k = p->k;
    carom_task *t = &k->simple;
    CAROM_TRY(carom_results_read(&p->r, k->texts, t->option, p->err));
    t->model.observe = p->r.expression;
    const carom_status begun = carom_task_begin(t, k->x, t->run.end, &p->run, p->err);
    t->model.observe = NULL;
    CAROM_TRY(begun);
    k->o->scheme = carom_sim_scheme(p->run.sim)->name;
    carom_results_find_terms(&p->r, p->run.model);
    for (int i = 0; i < p->r.all; ++i) {
        carom_at_event *e = &p->r.event[i];
        if (e->some && !e->time)
            return carom_fail(p->err, CAROM_UNSUPPORTED,
                              "%s: values at events need a scheme that locates events (" CAROM_LOCATING_EXACTLY ")",
                              t->option);
        if (e->some) e->id = carom_model_contact(p->run.model, e->contact);
        if (e->some && e->id == CAROM_NO_CONTACT)
            return carom_fail(p->err, CAROM_BAD_INPUT, "%s: the model has no contact '%.60s'", t->option, e->contact);
    }
    p->average = calloc((size_t)carom_model_watched(p->run.model) + 1, sizeof *p->average);
    double *out = calloc((size_t)p->r.all + 1, sizeof *out);
    p->time = calloc((size_t)p->r.all + 1, sizeof *p->time);
    if (!p->average || !out || !p->time)
        return free(out), carom_fail(p->err, CAROM_NO_MEMORY, "not enough memory for results of a run");
    carom_sim_stop_when(p->run.sim, k->def->stop, k->def->stop_user);
    carom_status status = carom_sim_run(p->run.sim, on_step, p, p->err);
    if (status == CAROM_STOPPED && carom_results_complete(&p->r)) status = CAROM_OK;
    carom_ledger ledger;
    if (status == CAROM_OK) status = carom_sim_ledger(p->run.sim, &ledger, p->err);
    if (status == CAROM_OK) {
        const carom_now now = carom_sim_now(p->run.sim);
        for (int i = 0; i < p->r.all && status == CAROM_OK; ++i) {
            const carom_at_event *e = &p->r.event[i];
            if (e->some && !e->found)
                status = carom_fail(p->err, CAROM_NOT_CONVERGED,
                                    "'%.60s' has only %ld of %ld such events until t = %.9g; increase `end`",
                                    e->contact, e->seen, e->number, now.t);
            const int term = i - p->r.n;
            if (term >= 0 && p->r.term[term].watch >= 0) p->average[p->r.term[term].watch].high = p->time[i];
        }
        carom_model_observe(p->run.model, p->average, &ledger, carom_sim_work(p->run.sim), now.t, now.q, now.v, out);
        for (int i = 0; i < p->r.n; ++i) k->result[i] = p->r.event[i].some ? p->time[i] : out[i];
    }
    free(out);
    return status;
}

carom_status carom_evaluate_plain(search *k, carom_error *err) {
    plain p = {.k = k, .err = err};
    const carom_status status = run_plain(&p);
    k->distance = INFINITY;
    free(p.average), free(p.time);
    carom_task_end(&p.run);
    carom_results_free(&p.r);
    return status;
}
