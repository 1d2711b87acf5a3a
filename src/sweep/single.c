// single.c: one run of a sweep: its model, its simulation, what is observed of it.
//
// Section points lie inside steps.  A state there is computed by a shorter step from where the step began, so that it
// has the order of the scheme; located schemes are exact up to their tolerances.
#include "base/grow.h"
#include "base/text.h"
#include "base/tolerance.h"
#include "base/number.h"
#include "model/answers.h"
#include "model/forcing.h"
#include "sim/inspect.h"
#include "sweep/shards.h"
#include "sweep/sweep.h"
#include <carom/event.h>
#include <carom/matrix.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A state inside the present step, reported by the scheme; crossing: what becomes zero on the section.
typedef struct node {
    double t, crossing;
    double *x; // positions, then velocities
} node;

typedef struct single {
    carom_sweep *s;
    outcome *o;
    carom_model *model;
    carom_sim *sim;
    carom_run run;
    carom_average *average;
    double *value;               // nobserve, and the section's expression
    unsigned char *before, *room; // states of the simulation, `bytes` each
    size_t bytes;
    double *x;                   // positions, then velocities, of a point
    node *nodes;                 // of the present step, its beginning first
    long nnodes, nodes_room;
    int nq, nv;                  // of its model
    long long contact;           // SECTION_IMPACT: carom_model_contact() there
    bool begun;                  // the transient is over
    double t0, transient;        // when it starts; when the transient is over
    bool goes_on;                // a further piece of a run
    double forcing;              // period of the forcing; 0: unknown, or there is none
    double period;
    double next;                 // SECTION_EVERY: number of the next point
    carom_error *err;
} single;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a run of a sweep");
}

// -- values ----------------------------------------------------------------------------------------------------

static const double *observe(single *k, double t, const double *q, const double *v) {
    carom_ledger ledger;
    carom_error err;
    if (carom_sim_ledger(k->sim, &ledger, &err) != CAROM_OK) ledger = (carom_ledger){0};
    carom_model_observe(k->model, k->average, &ledger, carom_sim_work(k->sim), t, q, v, k->value);
    return k->value;
}

static double crossing(single *k, double t, const double *q, const double *v) {
    return k->s->section.kind == SECTION_CROSSING ? observe(k, t, q, v)[k->s->nobserve] : 0;
}

static carom_status add_point(single *k, double t, const double *q, const double *v) {
    outcome *o = k->o;
    const int n = 1 + k->s->nobserve;
    if (t < k->transient * (1 - CAROM_QUOTIENT)) return CAROM_OK; // inside the step in which the transient ends
    if (!carom_grow(&o->section, (size_t)o->points, (size_t)n * sizeof *o->section)) return no_memory(k->err);
    double *row = o->section + o->points++ * n;
    row[0] = t;
    carom_copy(row + 1, observe(k, t, q, v), n - 1);
    return CAROM_OK;
}

static bool enough(const single *k) { return k->s->def.count > 0 && k->o->points >= k->s->def.count; }

// -- where the section is met ------------------------------------------------------------------------------------

static carom_status add_node(single *k, double t, const double *q, const double *v) {
    const int nq = k->nq, nv = k->nv;
    while (k->nnodes > 1 && k->nodes[k->nnodes - 1].t >= t) --k->nnodes; // of a step that was refused
    if (k->nnodes == k->nodes_room) {
        const long room = k->nodes_room ? 2 * k->nodes_room : 8;
        node *more = realloc(k->nodes, (size_t)room * sizeof *more);
        if (!more) return no_memory(k->err);
        k->nodes = more;
        for (long i = k->nodes_room; i < room; ++i) {
            k->nodes[i].x = malloc(((size_t)nq + (size_t)nv + 1) * sizeof(double));
            if (!k->nodes[i].x) return no_memory(k->err);
            k->nodes_room = i + 1;
        }
    }
    node *n = &k->nodes[k->nnodes++];
    n->t = t;
    carom_copy(n->x, q, nq);
    carom_copy(n->x + nq, v, nv);
    n->crossing = crossing(k, t, q, v);
    return CAROM_OK;
}

static carom_status on_inner(void *user, double t, const double *q, const double *v) { return add_node(user, t, q, v); }

static carom_status at(single *k, double t) {
    return carom_sim_between(k->sim, k->before, t, k->x, k->x + k->nq, k->room, k->err);
}

static carom_status every(single *k, const carom_now *now, double h) {
    while (!enough(k)) {
        const double t = k->next * k->period;
        if (t > now->t + CAROM_INSTANT * h) return CAROM_OK;
        k->next += 1;
        if (fabs(t - now->t) <= CAROM_INSTANT * h) {
            CAROM_TRY(add_point(k, now->t, now->q, now->v));
            continue;
        }
        CAROM_TRY(at(k, t));
        CAROM_TRY(add_point(k, t, k->x, k->x + k->nq));
    }
    return CAROM_OK;
}

static bool crosses(const single *k, double a, double b) {
    const int d = k->s->section.direction;
    return (d >= 0 && a < 0 && b >= 0) || (d <= 0 && a > 0 && b <= 0);
}

// The zero between two nodes by false position (Illinois); the point belongs to the side behind it.
static carom_status locate(single *k, double a, double ca, double b, double cb) {
    double fa = ca, fb = cb, t = b;
    const int nq = k->nq;
    for (int i = 0; i < 100 && cb != 0 && b - a > 4 * DBL_EPSILON * fmax(fabs(a), fabs(b)); ++i) {
        t = i % 3 == 2 ? 0.5 * (a + b) : b - fb * (b - a) / (fb - fa);
        if (!(t > a && t < b)) t = 0.5 * (a + b);
        if (!(t > a && t < b)) break;
        CAROM_TRY(at(k, t));
        const double c = crossing(k, t, k->x, k->x + nq);
        if ((c >= 0) == (cb >= 0) && c != 0) b = t, cb = c, fb = c, fa *= 0.5;
        else if (c == 0) b = t, cb = 0;
        else a = t, ca = c, fa = c, fb *= 0.5;
    }
    CAROM_TRY(at(k, b));
    return add_point(k, b, k->x, k->x + nq);
}

static carom_status crossings(single *k) {
    for (long i = 1; i < k->nnodes && !enough(k); ++i) {
        const node a = k->nodes[i - 1], b = k->nodes[i];
        if (crosses(k, a.crossing, b.crossing) && b.t >= k->transient)
            CAROM_TRY(locate(k, a.t, a.crossing, b.t, b.crossing));
    }
    return CAROM_OK;
}

// Right limits: the first node at or behind an event of a scheme that tells them, the end of the step for the others.
static carom_status impacts(single *k, const carom_now *now) {
    const bool located = carom_sim_scheme(k->sim)->emits_events;
    double last = NAN;
    for (int i = 0; i < now->nevents && !enough(k); ++i) {
        const carom_event *e = &now->events[i];
        if (e->kind != CAROM_IMPACT || !carom_model_contact_is(k->model, k->contact, e->contact) || e->t == last)
            continue;
        last = e->t;
        long n = 1;
        while (n < k->nnodes - 1 && (!located || k->nodes[n].t < e->t)) ++n;
        CAROM_TRY(add_point(k, located ? e->t : now->t, k->nodes[n].x, k->nodes[n].x + k->nq));
    }
    return CAROM_OK;
}

// -- the run -------------------------------------------------------------------------------------------------------

static carom_status begin(single *k, const carom_now *now) {
    if (k->begun || now->t < k->transient * (1 - CAROM_QUOTIENT)) return CAROM_OK;
    k->begun = true;
    if (now->step > 0) CAROM_TRY(carom_sim_count_anew(k->sim, k->err));
    carom_model_average(k->model, carom_sim_work(k->sim), now->t, now->q, now->v, k->average, true);
    return CAROM_OK;
}

static carom_status follow_section(single *k, const carom_now *now, double h) {
    switch (k->s->section.kind) {
    case SECTION_EVERY: return every(k, now, h);
    case SECTION_CROSSING: return crossings(k);
    case SECTION_IMPACT: return impacts(k, now);
    case SECTION_NONE: break;
    }
    return CAROM_OK;
}

static bool stop_asked(const void *user) { return atomic_load(&((const carom_sweep *)user)->stop); }

// The state from which the next step begins; where contacts come and go it may have become larger.
static carom_status save(single *k) {
    size_t bytes;
    CAROM_TRY(carom_sim_ready(k->sim, k->err));
    const void *state = carom_sim_state(k->sim, &bytes);
    if (bytes > k->bytes) {
        unsigned char *before = realloc(k->before, bytes), *room = before ? realloc(k->room, bytes) : NULL;
        if (before) k->before = before;
        if (room) k->room = room;
        if (!room) return no_memory(k->err);
        k->bytes = bytes;
    }
    memcpy(k->before, state, bytes);
    return CAROM_OK;
}

static carom_status steps(single *k) {
    const bool sections = k->s->section.kind != SECTION_NONE;
    carom_now now = carom_sim_now(k->sim);
    CAROM_TRY(begin(k, &now));
    if (k->s->section.kind == SECTION_EVERY && k->begun && !k->goes_on) CAROM_TRY(every(k, &now, k->run.step));
    if (sections) carom_sim_watch_inner(k->sim, on_inner, k);
    carom_sim_stop_when(k->sim, stop_asked, k->s);
    while (!carom_sim_done(k->sim) && !enough(k)) {
        if (atomic_load(&k->s->stop)) return carom_fail(k->err, CAROM_STOPPED, "stopped");
        const double t = now.t;
        if (sections) {
            CAROM_TRY(save(k));
            k->nnodes = 0;
            CAROM_TRY(add_node(k, now.t, now.q, now.v));
        }
        CAROM_TRY(carom_sim_step(k->sim, k->err));
        now = carom_sim_now(k->sim);
        if (k->begun) carom_model_average(k->model, carom_sim_work(k->sim), now.t, now.q, now.v, k->average, false);
        if (sections) {
            CAROM_TRY(add_node(k, now.t, now.q, now.v));
            if (now.t >= k->transient) CAROM_TRY(follow_section(k, &now, now.t - t));
        }
        CAROM_TRY(begin(k, &now));
    }
    if (k->s->def.count > 0 && !enough(k))
        return carom_fail(k->err, CAROM_NOT_CONVERGED, "only %ld of %ld section points until t = %.9g", k->o->points,
                          k->s->def.count, now.t);
    return CAROM_OK;
}

// -- making it -------------------------------------------------------------------------------------------------------

enum { TEXT = 400 }; // bytes of name=value: the formats below cut both

// "name=value" of options that are varied, behind those given.  The list and its texts are one block.
static const char **with_options(const carom_sweep *s, const char *const *given, const double *value) {
    size_t n = (size_t)carom_list_length(given);
    const char **list = malloc((n + (size_t)s->nvary + 1) * sizeof *list + (size_t)s->nvary * TEXT);
    if (!list) return NULL;
    char *text = (char *)(list + n + (size_t)s->nvary + 1);
    for (size_t i = 0; i < n; ++i) list[i] = given[i];
    for (int i = 0; i < s->nvary; ++i, text += TEXT) {
        const varied *v = &s->vary[i];
        if (v->kind != VARY_OPTION) continue;
        const char *name = v->name + 7;
        if (v->word) snprintf(text, TEXT, "%.190s=%.190s", name, v->word[(long)value[i]]);
        else carom_format(text, TEXT, "%.300s=%.17g", name, value[i]);
        list[n++] = text;
    }
    list[n] = NULL;
    return list;
}

static carom_model *take_idle(carom_sweep *s) {
    carom_model *m = NULL;
    for (int i = 0; i < IDLE_MODELS && !m; ++i) m = atomic_exchange(&s->idle[i], NULL);
    return m;
}

static void give_back(carom_sweep *s, carom_model *m) {
    for (int i = 0; i < IDLE_MODELS && m; ++i) {
        carom_model *none = NULL;
        if (atomic_compare_exchange_strong(&s->idle[i], &none, m)) return;
    }
    carom_model_destroy(m);
}

// Parameters of this run in the model of another one, or in a new one.
static carom_status set_parameters(single *k, const double *value) {
    const carom_sweep *s = k->s;
    int *index = calloc((size_t)s->nvary + 1, sizeof *index), n = 0;
    double *x = calloc((size_t)s->nvary + 1, sizeof *x);
    for (int i = 0; index && x && i < s->nvary; ++i)
        if (s->vary[i].kind == VARY_PARAMETER) index[n] = s->vary[i].index, x[n++] = value[i];
    const carom_status status = index && x ? carom_model_set(k->model, n, index, x, NULL, k->err) : no_memory(k->err);
    free(index);
    free(x);
    return status == CAROM_OK || status == CAROM_NO_MEMORY ? status : CAROM_BAD_INPUT;
}

static carom_status make_model(single *k, const double *value) {
    carom_model_def def = k->s->def.model;
    def.observe = k->s->observe;
    k->model = take_idle(k->s);
    if (!k->model) {
        k->model = carom_model_create(&def, k->err);
        if (!k->model) return k->err->code == CAROM_NO_MEMORY ? CAROM_NO_MEMORY : CAROM_BAD_INPUT;
        carom_model_adopt(k->model, k->s->model);
    }
    CAROM_TRY(set_parameters(k, value));
    k->nq = carom_model_system(k->model)->nq;
    k->nv = carom_model_system(k->model)->nv;
    return CAROM_OK;
}

// Is the state that of the sweep's own model?  A parameter may change how many bodies of a family or elements there
// are.
static bool same_size(const single *k) {
    return k->nq == k->s->nq && k->nv == k->s->nv &&
           carom_model_system(k->model)->signals->ni == carom_model_system(k->s->model)->signals->ni;
}

// When a run starts that follows another one.  A model without time in it starts at 0.  Otherwise time goes on, so that
// the motion is continued; where the forcing has a period, its phase does, which also continues the motion when the
// period T changes:
//
//     t_0 = T frac(t_1/T_1),  or t_1 where a period is unknown  (SWP-1)
//
// with t_1, T_1 those of the run before, in `left`; NULL: there is none.
static carom_status continue_time(single *k, const double *left) {
    carom_forcing f;
    k->goes_on = k->s->pieces && left;
    k->transient = k->goes_on ? 0 : k->s->def.transient;
    if (!k->s->driven) return CAROM_OK;
    CAROM_TRY(carom_model_forcing(k->model, -1, &f, k->err));
    k->forcing = f.period;
    if (!left) return CAROM_OK;
    const double t_1 = left[0], T_1 = left[1], phase = T_1 > 0 ? t_1 / T_1 : 0,
                 part = phase - floor(phase * (1 + CAROM_QUOTIENT));
    // whole periods begin anew
    k->t0 = !(T_1 > 0 && f.period > 0) ? t_1 : part > CAROM_QUOTIENT * phase ? f.period * part : 0;
    k->transient += k->t0;
    return CAROM_OK;
}

// The period; steps of schemes that locate events end on it.  How far the run goes at most.
static carom_status plan(single *k) {
    const carom_sweep_def *d = &k->s->def;
    const carom_ledger nothing = {0};
    double end = k->run.end;
    if (d->count == 0 && d->transient >= end)
        return carom_fail(k->err, CAROM_BAD_INPUT,
                          "`transient %.9g`: the run ends at t = %.9g, before anything is observed; give a later `end`",
                          d->transient, end);
    if (k->s->section.kind == SECTION_EVERY) {
        void *work = aligned_alloc(64, (carom_model_system(k->model)->work_size + 63) & ~(size_t)63);
        if (!work) return no_memory(k->err);
        carom_model_system(k->model)->work_init(k->model, work);
        memset(k->average, 0, (size_t)carom_model_watched(k->model) * sizeof *k->average);
        carom_model_observe(k->model, k->average, &nothing, work, 0, carom_model_q0(k->model), carom_model_v0(k->model),
                            k->value);
        free(work);
        k->period = k->value[k->s->nobserve];
        if (!(k->period > 0 && isfinite(k->period)))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`section every`: the period must be positive, got %g",
                              k->period);
        k->next = k->goes_on ? floor(k->t0 / k->period * (1 + CAROM_QUOTIENT)) + 1
                             : ceil(k->transient / k->period * (1 - CAROM_QUOTIENT));
        if (k->run.table && k->run.table->controls_own_steps)
            k->run.step = k->period / ceil(k->period / k->run.step * (1 - CAROM_QUOTIENT));
        if (d->count > 0)
            end =
                fmax(k->next + (double)d->count - 1, floor(k->t0 / k->period * (1 + CAROM_QUOTIENT)) + 1) * k->period -
                k->t0;
    } else if (d->count > 0) {
        end = d->transient + 1000 * end; // a run that never meets its section has to end, too
    }
    k->run.end = fmax(k->t0 + end, k->transient);
    return CAROM_OK;
}

static carom_status make_sim(single *k, const double *value, const double *start) {
    carom_sweep *s = k->s;
    carom_run_given given = s->def.run;
    const char **options = with_options(s, given.options, value);
    if (!options) return no_memory(k->err);
    given.options = options;
    carom_status status = carom_run_resolve(&k->run, k->model, &given, k->err);
    const double *left =
        start ? start + s->nq + s->nv + carom_model_system(s->model)->signals->ni : NULL; // time and period
    if (!start) start = s->def.start;
    if (status == CAROM_OK) status = continue_time(k, left);
    if (status == CAROM_OK) status = plan(k);
    for (int i = 0; status == CAROM_OK && !same_size(k) && i <= s->nvary; ++i)
        if (i == s->nvary ? start != NULL : s->vary[i].kind == VARY_POSITION || s->vary[i].kind == VARY_RATE)
            status = carom_fail(
                k->err, CAROM_BAD_INPUT, "with these values the model has %d positions instead of %d: %s", k->nq, s->nq,
                start ? "the run cannot start where its neighbour ended" : "initial values cannot be varied besides");
    if (status != CAROM_OK) return free(options), status;
    carom_copy(k->x, start ? start : carom_model_q0(k->model), k->nq);
    carom_copy(k->x + k->nq, start ? start + k->nq : carom_model_v0(k->model), k->nv);
    bool elsewhere = false;
    for (int i = 0; i < s->nvary && !k->goes_on; ++i) {
        elsewhere = elsewhere || s->vary[i].kind == VARY_POSITION;
        if (s->vary[i].kind == VARY_POSITION) k->x[s->vary[i].index] = value[i];
        if (s->vary[i].kind == VARY_RATE) k->x[k->nq + s->vary[i].index] = value[i];
    }
    if (elsewhere && !start) status = carom_model_start_at(k->model, k->x, k->err);
    carom_sim_def d = carom_run_sim(&k->run, k->model);
    d.t0 = k->t0;
    d.q0 = k->x, d.v0 = k->x + k->nq;
    if (start)
        carom_run_signals(&d, start == s->def.start ? s->def.signals : start + k->nq + k->nv, k->x + k->nq + k->nv);
    if (status == CAROM_OK) k->sim = carom_sim_create(&d, k->err);
    free(options);
    if (status == CAROM_OK && !k->sim) status = k->err->code == CAROM_NO_MEMORY ? CAROM_NO_MEMORY : CAROM_BAD_INPUT;
    if (s->section.kind == SECTION_IMPACT) k->contact = carom_model_contact(k->model, s->section.name);
    if (status == CAROM_OK && k->period > 0) carom_sim_stop_at(k->sim, k->period);
    return status;
}

static carom_status reserve(single *k) {
    carom_sweep *s = k->s;
    k->average = calloc((size_t)carom_model_watched(k->model) + 1, sizeof *k->average);
    k->value = calloc((size_t)s->nobserve + 2, sizeof *k->value);
    k->x = calloc((size_t)k->nq + (size_t)k->nv + (size_t)carom_model_system(k->model)->signals->ni + 1, sizeof *k->x);
    return k->average && k->value && k->x ? CAROM_OK : no_memory(k->err);
}

static carom_status reserve_states(single *k) {
    carom_sim_state(k->sim, &k->bytes);
    k->before = malloc(k->bytes + 1);
    k->room = malloc(k->bytes + 1);
    return k->before && k->room ? CAROM_OK : no_memory(k->err);
}

static void release(single *k) {
    for (long i = 0; i < k->nodes_room; ++i) free(k->nodes[i].x);
    free(k->nodes);
    free(k->before);
    free(k->room);
    free(k->average);
    free(k->value);
    free(k->x);
    carom_sim_destroy(k->sim);
    carom_run_free(&k->run);
    give_back(k->s, k->model);
}

void carom_sweep_single(carom_sweep *s, long run, const double *start, outcome *o) {
    carom_error err = {0};
    single k = {.s = s, .o = o, .err = &err};
    double *value = calloc((size_t)s->nvary + 1, sizeof *value);
    o->observed = calloc((size_t)s->nobserve + 1, sizeof *o->observed);
    const int state = carom_sweep_state(s), signals = state - s->nq - s->nv - 2;
    o->end = calloc((size_t)state + 1, sizeof *o->end);
    carom_status status = value && o->observed && o->end ? CAROM_OK : no_memory(&err);
    if (status == CAROM_OK) {
        for (int i = 0; i < s->nobserve; ++i) o->observed[i] = NAN;
        for (int i = 0; i < state; ++i) o->end[i] = NAN;
        carom_sweep_values(s, run, value);
        status = make_model(&k, value);
    }
    if (status == CAROM_OK) status = reserve(&k);
    if (status == CAROM_OK) status = make_sim(&k, value, start);
    if (status == CAROM_OK) status = reserve_states(&k);
    const bool ran = status == CAROM_OK;
    if (ran) status = steps(&k);
    if (ran && status != CAROM_STOPPED) {
        const carom_now now = carom_sim_now(k.sim);
        carom_copy(o->observed, observe(&k, now.t, now.q, now.v), s->nobserve);
        if (same_size(&k)) {
            carom_copy(o->end, now.q, s->nq);
            carom_copy(o->end + s->nq, now.v, s->nv);
            if (signals > 0) carom_copy(o->end + s->nq + s->nv, carom_sim_inputs(k.sim), signals);
            if (signals >= 0) o->end[state - 2] = now.t, o->end[state - 1] = k.forcing;
        }
    }
    o->done = status != CAROM_STOPPED && status != CAROM_NO_MEMORY;
    o->status = status == CAROM_OK ? 0 : status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED ? 2 : 1;
    if (status != CAROM_OK) {
        o->message = malloc(strlen(err.text) + 1);
        if (o->message) strcpy(o->message, err.text);
    }
    release(&k);
    free(value);
}

void carom_outcome_free(outcome *o) {
    free(o->message);
    free(o->observed);
    free(o->section);
    free(o->end);
    *o = (outcome){0};
}
