// estimate.c: the error of a run, from the run repeated with half the step and a quarter of it, or with a tenth and a
// hundredth of the tolerance.
//
//     e_1 = x_1 - x_2,   e_2 = x_2 - x_3,   p = log(max |e_1|/max |e_2|)/log r                                 (ER-1)
//     error of x_1:   |x_1 - x_3| + |e_2|/(r^p - 1)                                                            (ER-2)
//
// r = 2 or 10.  The first part is a difference of results, the second what the finest of them lacks itself.  A single
// difference may be small by chance, as where an impact falls on the end of a step: the sum of both is so only where
// all three agree.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "base/missing.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/tolerance.h"
#include "io/json.h"
#include "model/answers.h"
#include "study/reference.h"
#include "study/trajectory.h"
#include <carom/result.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 3,
    NODES = 2000,
    TICK = 255,
    SHOWN = 20,
    ENERGIES = 4
}; // runs; states that are compared, about; steps between ticks, less one; lines for a person; of the ledger
static const double LARGE = 0.1;        // of the size of a coordinate: its error is as large as that
static const double ROUNDING = 1e-13;   // of the size: differences below have no order
static const double NOTHING = 1e-9;     // of the largest size of its kind: a quantity that is zero to rounding
static const double LEAST_ORDER = 0.5;  // for (ER-2), where less is observed
static const double APART = 0.02;       // of the run: impacts of two runs farther apart than this are not the same one
static const size_t MEMORY = (size_t)1 << 30;

typedef struct run_of {
    carom_trajectory tr;   // positions and their rates
    double *energy;        // of its nodes
    double *impact;        // times
    long impacts;
    carom_ledger ledger;
} run_of;

typedef struct interval { double from, to; } interval;

struct carom_estimate {
    carom_estimate_def def;
    carom_sim_def sim;
    quantities of;         // coordinates, then velocities
    bool tolerant;
    double level[LEVELS], atol;
    long stride;           // of the first run, 0: every step is a node
    run_of run[LEVELS];
    interval *near;        // impacts: velocities are not compared inside
    long nnear;
    int n;                 // quantities along the run: those of `of`, and the energy
    carom_estimate_line *line; // n + ENERGIES
    int lines;
    double *share;         // n: 1/(r^p - 1)
    double until, until_finer, order;
    char *text;            // JSON
    int first;             // the coordinate that is off first; -1: none
    // of the run in progress
    int now;
    carom_sim *now_sim;
    double *dq;            // rates of positions, where these are not the velocities
    long room;             // of run.energy
    bool jumped;
    carom_estimate_tick tick;
    void *user;
    carom_status status;
    carom_error *err;
};

// -- the three runs ---------------------------------------------------------------------------------------------

static double ratio(const carom_estimate *e) { return e->tolerant ? 10 : 2; }

// The value of an option in "name=value name=value"; NaN: there is none.
static double option_value(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n) {
        char *end;
        if ((at != text && at[-1] != ' ') || at[n] != '=') continue;
        const double x = carom_number(at + n + 1, &end);
        return end > at + n + 1 ? x : NAN;
    }
    return NAN;
}

static carom_sim *create(const carom_estimate *e, int level, carom_error *err) {
    carom_sim_def def = e->sim;
    int n = 0;
    while (def.options && def.options[n]) ++n;
    const char **options = calloc((size_t)n + 3, sizeof *options);
    char text[2][48];
    if (!options) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate"), NULL;
    for (int i = 0; i < n; ++i) options[i] = def.options[i];
    carom_format(text[0], sizeof text[0], "rtol=%.17g", e->level[level]);
    carom_format(text[1], sizeof text[1], "atol=%.17g", e->atol * e->level[level] / e->level[0]);
    if (e->tolerant && level > 0) options[n] = text[0], options[n + 1] = text[1];
    if (!e->tolerant) def.h = e->level[level];
    def.options = options;
    carom_sim *sim = carom_sim_create(&def, err);
    free(options);
    if (sim && e->def.team) carom_sim_team(sim, e->def.team);
    // Steps of adaptive runs end on the rows that a result has by default.
    if (sim)
        carom_sim_stop_at(sim, e->def.dt_out > 0                 ? e->def.dt_out
                               : carom_sim_total_steps(sim) == 0 ? e->sim.t_end / NODES
                                                                 : 0);
    return sim;
}

static carom_status add_node(carom_estimate *e, double t, const double *q, const double *v) {
    run_of *r = &e->run[e->now];
    double kinetic, potential;
    if (r->tr.count == r->tr.room) {
        const long room = r->tr.room + r->tr.room / 2 + 64;
        if (LEVELS * carom_trajectory_bytes(r->tr.n, room) > e->def.memory)
            return carom_fail(e->err, CAROM_NO_MEMORY,
                              "t = %.9g: the states of three runs require more than %.3g GB; a larger tolerance or an "
                              "earlier end needs less",
                              t, 1e-9 * (double)e->def.memory);
        CAROM_TRY(carom_trajectory_reserve(&r->tr, room, e->err));
    }
    if (r->tr.room > e->room) {
        double *more = realloc(r->energy, (size_t)r->tr.room * sizeof *more);
        if (!more) return carom_fail(e->err, CAROM_NO_MEMORY, "not enough memory for an estimate");
        r->energy = more, e->room = r->tr.room;
    }
    CAROM_TRY(carom_sim_energy(e->now_sim, &kinetic, &potential, e->err));
    r->energy[r->tr.count] = kinetic + potential;
    if (e->dq) carom_model_rates(e->def.model, q, v, e->dq);
    carom_trajectory_add(&r->tr, t, q, e->dq ? e->dq : v, e->jumped ? INFINITY : NAN);
    e->jumped = false;
    return CAROM_OK;
}

static double part_done(const carom_estimate *e, double t) {
    static const double cost[2][LEVELS] = {
        {1, 2, 4}, {1, 1.6, 2.5}}; // of the runs: with steps; with tolerances and a method of order 5
    const double *c = cost[e->tolerant], x = (t - e->sim.t0) / (e->sim.t_end - e->sim.t0);
    double done = c[e->now] * x;
    for (int i = 0; i < e->now; ++i) done += c[i];
    return done / (c[0] + c[1] + c[2]);
}

static carom_status on_step(void *user, const carom_now *now) {
    carom_estimate *e = user;
    run_of *r = &e->run[e->now];
    for (int i = 0; i < now->nevents; ++i) {
        if (now->events[i].kind != CAROM_IMPACT) continue;
        e->jumped = true;
        if (!CAROM_GROW(r->impact, r->impacts))
            return e->status = carom_fail(e->err, CAROM_NO_MEMORY, "not enough memory for an estimate");
        r->impact[r->impacts++] = now->events[i].t;
    }
    const long every = e->stride << (e->tolerant ? 0 : e->now);
    if (e->stride == 0 || now->step % every == 0 || now->t >= e->sim.t_end)
        e->status = add_node(e, now->t, now->q, now->v);
    if (e->status == CAROM_OK && (now->step & TICK) == 0 && e->tick && !e->tick(e->user, part_done(e, now->t)))
        e->status = carom_fail(e->err, CAROM_STOPPED, "the estimate was stopped");
    return e->status;
}

static carom_status one_run(carom_estimate *e, carom_sim *sim, carom_error *err) {
    run_of *r = &e->run[e->now];
    const carom_now start = carom_sim_now(sim);
    carom_error why = {0};
    e->now_sim = sim, e->err = &why, e->status = CAROM_OK, e->jumped = false, e->room = 0;
    CAROM_TRY(carom_trajectory_create(&r->tr, e->of.nq, NODES + 64, err));
    carom_status status = add_node(e, start.t, start.q, start.v);
    if (status == CAROM_OK) status = carom_sim_run(sim, on_step, e, &why);
    if (status == CAROM_OK) status = carom_sim_ledger(sim, &r->ledger, &why);
    if (status == CAROM_OK) return CAROM_OK;
    return carom_fail(err, status, "with the %s %g: %.900s", e->tolerant ? "tolerance" : "step", e->level[e->now],
                      why.text);
}

// -- impacts ----------------------------------------------------------------------------------------------------

static int by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// How far t is from the nearest impact of a run.
static double distance(const run_of *r, double t) {
    long low = 0, high = r->impacts;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (r->impact[middle] < t) low = middle + 1;
        else high = middle;
    }
    return fmin(low < r->impacts ? r->impact[low] - t : HUGE_VAL, low > 0 ? t - r->impact[low - 1] : HUGE_VAL);
}

// (ER-3)  An impact that comes later by dt in another run leaves a difference of velocities as large as their jump, for
// dt.  Velocities are not compared within dt and a node's distance of an impact of any of the runs.
static carom_status find_near(carom_estimate *e, carom_error *err) {
    const carom_trajectory *tr = &e->run[0].tr;
    const double T = e->sim.t_end - e->sim.t0;
    double apart = 0;
    long all = 0;
    for (int k = 0; k < LEVELS; ++k) {
        all += e->run[k].impacts;
        if (e->run[k].impacts) qsort(e->run[k].impact, (size_t)e->run[k].impacts, sizeof(double), by_time);
    }
    for (long i = 1; i < tr->count; ++i) apart = fmax(apart, tr->t[i] - tr->t[i - 1]);
    e->near = malloc(((size_t)all + 1) * sizeof *e->near);
    if (!e->near) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
    for (int k = 0; k < LEVELS; ++k)
        for (long i = 0; i < e->run[k].impacts; ++i) {
            const double t = e->run[k].impact[i];
            double dt = 0;
            for (int j = 0; j < LEVELS; ++j) dt = fmax(dt, distance(&e->run[j], t));
            dt = fmin(dt, APART * T) + apart;
            e->near[e->nnear++] = (interval){t - dt, t + dt};
        }
    qsort(e->near, (size_t)e->nnear, sizeof *e->near, by_time); // by where they begin
    return CAROM_OK;
}

// -- errors -----------------------------------------------------------------------------------------------------

// Values of all quantities at a node of the first run, in all runs.
typedef struct values {
    double *x[LEVELS];
    long hint[LEVELS];
    long next;        // interval,
    double until;     // and how far those before it reach
    bool smooth;      // no impact is near
    scratch w;
    double *block;
} values;

static double energy_at(const run_of *r, long k, double t) {
    const double *T = r->tr.t;
    if (k + 1 >= r->tr.count) return r->energy[r->tr.count - 1];
    const double h = T[k + 1] - T[k], x = h > 0 ? fmin(1, fmax(0, (t - T[k]) / h)) : 1;
    return (1 - x) * r->energy[k] + x * r->energy[k + 1];
}

static void look(const carom_estimate *e, values *z, long i) {
    const double t = e->run[0].tr.t[i];
    while (z->next < e->nnear && e->near[z->next].from <= t) z->until = fmax(z->until, e->near[z->next++].to);
    z->smooth = !(z->until >= t);
    for (int k = 0; k < LEVELS; ++k) {
        carom_trajectory_at(&e->run[k].tr, t, CAROM_RIGHT, &z->hint[k], z->w.q, z->w.dq);
        carom_quantities_eval(&e->of, &z->w, t, z->w.q, z->w.dq, z->x[k]);
        z->x[k][e->of.n] = energy_at(&e->run[k], k == 0 ? i : z->hint[k], t);
    }
}

static bool compared(const carom_estimate *e, const values *z, int j) { return j < e->of.nq || z->smooth; }

// d = x_a - x_b, for all quantities.
static void subtract(const carom_estimate *e, const values *z, int a, int b, double *d) {
    memcpy(d, z->x[a], (size_t)e->n * sizeof *d);
    carom_quantities_subtract(&e->of, d, z->x[b]);
    d[e->of.n] -= z->x[b][e->of.n];
}

static void begin_pass(values *z) {
    for (int k = 0; k < LEVELS; ++k) z->hint[k] = 0;
    z->next = 0, z->until = -HUGE_VAL;
}

static double observed(double first, double second, double size, double r) {
    const double p = first > ROUNDING * size && second > ROUNDING * size ? log(first / second) / log(r) : NAN;
    return p > 0 ? p : NAN; // differences that grow have none: one of them is small by chance, or nothing converges
}

static double share_of(double order, double r) { return 1 / (pow(r, isnan(order) ? 1 : fmax(order, LEAST_ORDER)) - 1); }

static int digits_of(double error, double size) {
    return !(error > 0) ? 15 : (int)fmin(15, fmax(0, floor(log10(size / error))));
}

static void find_sizes(carom_estimate *e, values *z) {
    begin_pass(z);
    for (long i = 0; i < e->run[0].tr.count; ++i) {
        look(e, z, i);
        for (int j = 0; j < e->n; ++j) e->line[j].size = fmax(e->line[j].size, fabs(z->x[0][j]));
    }
    double most[2] = {0, 0}; // coordinates, velocities
    for (int j = 0; j < e->of.n; ++j) most[j >= e->of.nq] = fmax(most[j >= e->of.nq], e->line[j].size);
    for (int j = 0; j < e->n; ++j)
        e->line[j].digits = j < e->of.n && !(e->line[j].size > NOTHING * most[j >= e->of.nq]) ? -1 : 0;
    if (!(e->line[e->of.n].size > 0)) e->line[e->of.n].digits = -1;
}

// (ER-1)  Orders until a coordinate differs by a part of its size, where differences no longer follow the step.
static void find_orders(carom_estimate *e, values *z, double *d, double *first, double *second) {
    bool far = false;
    begin_pass(z);
    for (long i = 0; i < e->run[0].tr.count && !far; ++i) {
        look(e, z, i);
        subtract(e, z, 0, 1, d);
        for (int j = 0; j < e->of.nq; ++j)
            far = far || (i > 1 && e->line[j].digits >= 0 && fabs(d[j]) > LARGE * e->line[j].size);
        for (int j = 0; j < e->n; ++j)
            if (compared(e, z, j)) first[j] = fmax(first[j], fabs(d[j]));
        subtract(e, z, 1, 2, d);
        for (int j = 0; j < e->n; ++j)
            if (compared(e, z, j)) second[j] = fmax(second[j], fabs(d[j]));
    }
    for (int j = 0; j < e->n; ++j) {
        e->line[j].order = e->line[j].digits < 0 ? NAN : observed(first[j], second[j], e->line[j].size, ratio(e));
        e->share[j] = share_of(e->line[j].order, ratio(e));
    }
}

// (ER-2)
static void find_errors(carom_estimate *e, values *z, double *d, double *finer) {
    const carom_trajectory *tr = &e->run[0].tr;
    e->until = e->until_finer = HUGE_VAL, e->first = -1;
    for (int j = 0; j < e->n; ++j) e->line[j].error = e->line[j].largest = e->line[j].t = NAN;
    begin_pass(z);
    for (long i = 0; i < tr->count; ++i) {
        const double t = tr->t[i];
        look(e, z, i);
        subtract(e, z, 0, 2, d);
        subtract(e, z, 1, 2, finer);
        for (int j = 0; j < e->n; ++j) {
            carom_estimate_line *l = &e->line[j];
            const double error = fabs(d[j]) + e->share[j] * fabs(finer[j]);
            const bool coordinate = j < e->of.nq && l->digits >= 0;
            if (coordinate && !(error <= LARGE * l->size) && t < e->until) e->until = t, e->first = j;
            if (coordinate && !((1 + e->share[j]) * fabs(finer[j]) <= LARGE * l->size))
                e->until_finer = fmin(e->until_finer, t);
            if (!compared(e, z, j)) continue;
            if (!(error <= l->largest)) l->largest = error, l->t = t;
            if (i + 1 == tr->count) l->error = error;
        }
        if (i + 1 < tr->count) continue;
        for (int j = 0; j < e->n; ++j) e->line[j].end = z->x[0][j];
    }
    double worst = 0;
    e->order = NAN;
    for (int j = 0; j < e->n; ++j) {
        carom_estimate_line *l = &e->line[j];
        const double error = isnan(l->error) ? l->largest : l->error;
        if (l->digits >= 0) l->digits = digits_of(isnan(error) ? l->size : error, l->size);
        if (j < e->of.nq && l->digits >= 0 && !isnan(l->order) && l->largest > worst * l->size)
            worst = l->largest / l->size, e->order = l->order;
    }
}

// What the ledgers say of energies at the end.
static void find_ledgers(carom_estimate *e) {
    static const struct {
        const char *name; size_t at;
    } what[ENERGIES] = {{"energy.impact", offsetof(carom_ledger, energy.impact)},
                        {"energy.friction", offsetof(carom_ledger, energy.friction)},
                        {"energy.damping", offsetof(carom_ledger, energy.damping)},
                        {"energy.external", offsetof(carom_ledger, energy.external)}};
    e->lines = e->n;
    for (int i = 0; i < ENERGIES; ++i) {
        double x[LEVELS], size = 0;
        for (int k = 0; k < LEVELS; ++k)
            x[k] = *(const double *)((const char *)&e->run[k].ledger + what[i].at), size = fmax(size, fabs(x[k]));
        if (size == 0) continue;
        const double order = observed(fabs(x[0] - x[1]), fabs(x[1] - x[2]), size, ratio(e)),
                     error = fabs(x[0] - x[2]) + share_of(order, ratio(e)) * fabs(x[1] - x[2]);
        e->line[e->lines++] = (carom_estimate_line){.name = what[i].name,
                                                    .end = x[0],
                                                    .error = error,
                                                    .largest = NAN,
                                                    .t = NAN,
                                                    .order = order,
                                                    .size = size,
                                                    .digits = digits_of(error, size)};
    }
}

static carom_status compare(carom_estimate *e, carom_error *err) {
    const size_t n = (size_t)e->n;
    values z = {.block = calloc(7 * n, sizeof(double))};
    carom_status status = z.block ? carom_scratch_create(&z.w, &e->of, err)
                                  : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
    if (status == CAROM_OK) status = find_near(e, err);
    if (status == CAROM_OK) {
        for (int k = 0; k < LEVELS; ++k) z.x[k] = z.block + (size_t)k * n;
        double *d = z.block + 3 * n;
        find_sizes(e, &z);
        find_orders(e, &z, d, d + n, d + 2 * n);
        find_errors(e, &z, d, d + 3 * n);
        find_ledgers(e);
    }
    carom_scratch_destroy(&z.w);
    free(z.block);
    return status;
}

// -- making and asking --------------------------------------------------------------------------------------------

// All coordinates, then all velocities.
static carom_status choose(carom_estimate *e, carom_error *err) {
    const carom_model *m = e->def.model;
    const carom_model_sizes n = carom_model_count(m);
    const char **of = calloc((size_t)(n.coordinates + n.velocities) + 1, sizeof *of);
    if (!of) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
    for (int i = 0; i < n.coordinates; ++i) of[i] = carom_model_coordinate(m, i);
    for (int i = 0; i < n.velocities; ++i) of[n.coordinates + i] = carom_model_velocity(m, i);
    const carom_status status = carom_quantities_create(&e->of, m, of, err);
    free(of);
    return status;
}

static carom_status prepare(carom_estimate *e, carom_error *err) {
    char text[1000];
    CAROM_TRY(choose(e, err));
    e->n = e->of.n + 1;
    e->line = calloc((size_t)e->n + ENERGIES, sizeof *e->line);
    e->share = calloc((size_t)e->n, sizeof *e->share);
    e->dq = e->of.turns ? calloc((size_t)e->of.nq + 1, sizeof *e->dq) : NULL;
    if (!e->line || !e->share || (e->of.turns && !e->dq))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
    for (int j = 0; j < e->of.n; ++j) e->line[j].name = e->of.at[j].name;
    e->line[e->of.n].name = "energy";
    carom_sim *sim = carom_sim_create(&e->sim, err);
    if (!sim) return err ? err->code : CAROM_BAD_INPUT;
    carom_sim_options_text(sim, text, sizeof text);
    e->tolerant = carom_sim_scheme(sim)->controls_own_steps || strstr(text, "adaptive=on");
    carom_sim_destroy(sim);
    const double rtol = option_value(text, "rtol"), atol = option_value(text, "atol");
    if (e->tolerant && !(rtol > 0))
        return carom_fail(err, CAROM_UNSUPPORTED, "an estimate needs a step or a tolerance, and %s has neither",
                          e->sim.scheme);
    e->atol = atol > 0 ? atol : 0;
    for (int k = 0; k < LEVELS; ++k) e->level[k] = (e->tolerant ? rtol : e->sim.h) / pow(ratio(e), k);
    return CAROM_OK;
}

carom_estimate *carom_estimate_create(const carom_estimate_def *def, carom_error *err) {
    if (!def || !def->sim) return CAROM_MISSING(err), NULL;
    carom_estimate *e = calloc(1, sizeof *e);
    if (!e) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate"), NULL;
    e->def = *def;
    e->sim = *def->sim;
    if (e->def.memory == 0) e->def.memory = MEMORY;
    if (prepare(e, err) == CAROM_OK) return e;
    carom_estimate_destroy(e);
    return NULL;
}

void carom_estimate_destroy(carom_estimate *e) {
    if (!e) return;
    for (int k = 0; k < LEVELS; ++k) {
        carom_trajectory_destroy(&e->run[k].tr);
        free(e->run[k].energy);
        free(e->run[k].impact);
    }
    carom_quantities_destroy(&e->of);
    free(e->near);
    free(e->line);
    free(e->share);
    free(e->text);
    free(e->dq);
    free(e);
}

int carom_estimate_lines(const carom_estimate *e) { return e ? e->lines : 0; }
carom_estimate_line carom_estimate_line_at(const carom_estimate *e, int i) {
    return e && i >= 0 && i < e->lines ? e->line[i] : (carom_estimate_line){0};
}
double carom_estimate_until(const carom_estimate *e) { return e ? e->until : NAN; }
double carom_estimate_order(const carom_estimate *e) { return e ? e->order : NAN; }

bool carom_estimate_levels(const carom_estimate *e, double level[3]) {
    if (!e) return false;
    if (level) memcpy(level, e->level, sizeof e->level);
    return e->tolerant;
}

// -- text -------------------------------------------------------------------------------------------------------

static double relative(const carom_estimate_line *l) {
    return l->digits < 0 || !(l->size > 0) ? -1 : (isnan(l->error) ? l->largest : l->error) / l->size;
}

static void print_line(FILE *f, const carom_estimate_line *l) {
    fprintf(f, "    %-14s %.*g", l->name, l->digits > 3 ? l->digits + 1 : 4, l->end);
    if (!isnan(l->error)) fprintf(f, " +- %.2g at the end", l->error);
    else fprintf(f, " at the end, where an impact is near");
    if (!isnan(l->largest)) fprintf(f, ", +- %.2g at t = %.6g", l->largest, l->t);
    if (!isnan(l->order)) fprintf(f, ", order %.2g", l->order);
    if (l->digits >= 0) fprintf(f, ", %d digit%s\n", l->digits, l->digits == 1 ? "" : "s");
    else fprintf(f, ", zero to rounding\n");
}

// Fewest digits of a coordinate at the end; 15: none is more than rounding.
static int fewest(const carom_estimate *e) {
    int least = 15;
    for (int j = 0; j < e->of.nq; ++j)
        if (e->line[j].digits >= 0 && e->line[j].digits < least) least = e->line[j].digits;
    return least;
}

void carom_estimate_print(FILE *f, const carom_estimate *e) {
    if (!f || !e) return;
    const carom_locale locale = carom_locale_begin();
    const int digits = fewest(e);
    fprintf(f, "  %-12s from runs with the %s %.6g and %.6g: ", "estimate", e->tolerant ? "tolerances" : "steps",
            e->level[1], e->level[2]);
    if (!isnan(e->order)) fprintf(f, "order %.2g of the %s, ", e->order, e->tolerant ? "tolerance" : "step");
    fprintf(f, "%d digit%s of every coordinate at the end\n", digits, digits == 1 ? "" : "s");
    if (e->until < HUGE_VAL) {
        fprintf(f, "  %-12s until t = %.6g, where %s is off by a tenth of its largest value", "  valid", e->until,
                e->line[e->first].name);
        if (e->until_finer < HUGE_VAL)
            fprintf(f, "; with %s until t = %.6g", e->tolerant ? "a tenth of the tolerance" : "half the step",
                    e->until_finer);
        else fprintf(f, "; with %s to the end", e->tolerant ? "a tenth of the tolerance" : "half the step");
        fputc('\n', f);
    }
    double below = HUGE_VAL; // of many lines, those with the largest relative errors
    for (int shown = 0; shown < SHOWN && e->lines > SHOWN; ++shown) {
        double next = -2;
        for (int i = 0; i < e->lines; ++i)
            if (relative(&e->line[i]) < below) next = fmax(next, relative(&e->line[i]));
        if (next < -1) break;
        below = next;
    }
    int printed = 0;
    for (int i = 0; i < e->lines; ++i)
        if (e->lines <= SHOWN || (relative(&e->line[i]) >= below && printed < SHOWN))
            print_line(f, &e->line[i]), ++printed;
    if (printed < e->lines) fprintf(f, "    %d more, with smaller errors\n", e->lines - printed);
    carom_locale_end(locale);
}

static void write_json(FILE *f, const carom_estimate *e) {
    enum { MOST = 200 }; // attributes of HDF5 have an end
    fprintf(f, "{\"by\": \"%s\", \"levels\": [", e->tolerant ? "tolerance" : "step");
    for (int k = 0; k < LEVELS; ++k) fputs(k ? ", " : "", f), carom_json_number(f, e->level[k]);
    fputs("], \"order\": ", f), carom_json_number(f, e->order);
    fprintf(f, ", \"digits\": %d, \"until\": ", fewest(e)), carom_json_number(f, e->until);
    fputs(", \"until_finer\": ", f), carom_json_number(f, e->until_finer);
    fputs(", \"quantities\": [", f);
    for (int i = 0; i < e->lines && i < MOST; ++i) {
        const carom_estimate_line *l = &e->line[i];
        fputs(i ? ", {\"name\": " : "{\"name\": ", f), carom_json_string(f, l->name);
        fputs(", \"end\": ", f), carom_json_number(f, l->end);
        fputs(", \"error\": ", f), carom_json_number(f, l->error);
        fputs(", \"largest\": ", f), carom_json_number(f, l->largest);
        fputs(", \"time\": ", f), carom_json_number(f, l->t);
        fputs(", \"order\": ", f), carom_json_number(f, l->order);
        fputs(", \"digits\": ", f), carom_json_number(f, l->digits < 0 ? NAN : l->digits);
        fputc('}', f);
    }
    fprintf(f, "], \"more\": %d}", e->lines > MOST ? e->lines - MOST : 0);
}

const char *carom_estimate_text(const carom_estimate *e) { return e ? e->text : NULL; }

// -- all of it --------------------------------------------------------------------------------------------------

carom_status carom_estimate_run(carom_estimate *e, carom_estimate_tick tick, void *user, carom_error *err) {
    if (!e) return CAROM_MISSING(err);
    carom_status status = CAROM_OK;
    e->tick = tick, e->user = user;
    for (e->now = 0; e->now < LEVELS && status == CAROM_OK; ++e->now) {
        carom_sim *sim = create(e, e->now, err);
        if (sim && e->now == 0)
            e->stride = carom_sim_total_steps(sim) == 0 ? 0 : 1 + (carom_sim_total_steps(sim) - 1) / NODES;
        status = sim ? one_run(e, sim, err) : err ? err->code : CAROM_BAD_INPUT;
        carom_sim_destroy(sim);
    }
    if (status == CAROM_OK) status = compare(e, err);
    if (status != CAROM_OK) return status;
    size_t size = 0;
    free(e->text);
    e->text = NULL;
    FILE *f = open_memstream(&e->text, &size);
    if (!f) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
    write_json(f, e);
    fclose(f);
    return e->text ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an estimate");
}
