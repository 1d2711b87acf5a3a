// orbit.c: periodic orbits: what is found, and one period of it as a result.
#include "base/missing.h"
#include "dynamics/segments.h"
#include <carom/event.h>
#include <carom/result.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ISOLATED = 1e-6; // distance of a multiplier from 1: a nearer one may belong to a family of orbits

// Largest first; zeros of lost directions and ones of trivial ones behind.
static carom_status put_multipliers(carom_orbit *o, carom_cycle *c, carom_segments *g) {
    int count = 0;
    CAROM_TRY(g          ? carom_segments_multipliers(g, o->re, o->im, &count, &o->trivial, &o->rank_loss)
              : c->s.few ? carom_cycle_largest(c, o->re, o->im, &count, &o->trivial, &o->rank_loss, &o->others)
                         : carom_cycle_multipliers(c, o->re, o->im, NULL, &count, &o->trivial, &o->rank_loss));
    for (int i = 1; i < count; ++i) // by size, pairs stay together
        for (int k = i; k > 0 && hypot(o->re[k], o->im[k]) > (1 + CAROM_SAME) * hypot(o->re[k - 1], o->im[k - 1]);
             --k) {
            const double re = o->re[k], im = o->im[k];
            o->re[k] = o->re[k - 1], o->im[k] = o->im[k - 1], o->re[k - 1] = re, o->im[k - 1] = im;
        }
    o->largest = count > 0 ? hypot(o->re[0], o->im[0]) : o->others > 0 ? NAN : 0;
    o->isolated = true;
    for (int i = 0; i < count; ++i) o->isolated = o->isolated && hypot(o->re[i] - 1, o->im[i]) > ISOLATED;
    for (int i = 0; i < o->rank_loss; ++i) o->re[count] = o->im[count] = 0, ++count;
    for (int i = 0; i < o->trivial; ++i) o->re[count] = 1, o->im[count] = 0, ++count;
    o->nmultipliers = count;
    return CAROM_OK;
}

static void put(carom_orbit *o, const double *x) {
    carom_copy(o->q, x, o->nq), carom_copy(o->v, x + o->nq, o->nv);
    carom_copy(o->signals, x + o->nq + o->nv, o->nsignals);
}

static int by_time(const void *a, const void *b) {
    const carom_orbit_event *x = a, *y = b;
    return x->t < y->t ? -1 : x->t > y->t;
}

static carom_status put_events(carom_orbit *o, const carom_cycle *c, const carom_hit *hit, int n) {
    o->event = calloc((size_t)n + 1, sizeof *o->event);
    if (!o->event) return carom_orbit_no_memory(c->err);
    for (int i = 0; i < n; ++i)
        o->event[i] = (carom_orbit_event){fmod(hit[i].t, c->T), hit[i].contact, carom_hit_word(hit[i].kind),
                                          hit[i].impacts, fmod(hit[i].t, c->T) + hit[i].end - hit[i].t};
    o->nevents = n;
    qsort(o->event, (size_t)n, sizeof *o->event, by_time);
    return CAROM_OK;
}

// The same of an orbit in pieces, and the states between them.
static carom_status put_nodes(carom_orbit *o, carom_cycle *c, carom_segments *g) {
    const size_t nx = (size_t)c->s.nx;
    o->segments = g->n;
    o->node = calloc((size_t)g->n * nx, sizeof *o->node);
    if (!o->node) return carom_orbit_no_memory(c->err);
    CAROM_TRY(put_events(o, c, g->hit, g->nhits));
    for (int i = 0; i < o->nq; ++i) o->advance[i] = g->end[i] - g->piece[0].x[i];
    for (int k = 0; k < g->n; ++k) CAROM_TRY(carom_segments_state(g, k * c->T / g->n, o->node + (size_t)k * nx));
    put(o, o->node);
    return CAROM_OK;
}

// The state at t = 0, how far it goes, what happens from there on.
static carom_status put_state(carom_orbit *o, carom_cycle *c) {
    carom_shooter *s = &c->s;
    CAROM_TRY(put_events(o, c, s->hit, s->nhits));
    for (int i = 0; i < s->nq; ++i) o->advance[i] = s->end[i] - s->start[i];
    double *x = c->x;
    carom_status status = CAROM_OK;
    if (c->t_0 > 0) {
        status = carom_shoot(s, c->t_0, c->T - c->t_0, c->x, false, c->steps);
        x = s->end;
    }
    put(o, x);
    return status;
}

// With controllers a state of rest is an orbit, too, and may be far from where the motion is after one sample.
static carom_status from_rest(carom_cycle *c) {
    carom_shooter *s = &c->s;
    carom_equilibrium rest = {0};
    carom_error why = {0};
    carom_status status = carom_equilibrium_find(&rest, s->task.base, NULL, &why);
    double *x = calloc((size_t)s->nx + (size_t)s->n + 1, sizeof *x), *scale = x + s->nx;
    if (!x) status = carom_orbit_no_memory(c->err);
    if (status == CAROM_OK) {
        carom_copy(x, rest.q, s->nq), carom_model_at_rest(s->task.base, rest.q, x + s->nq);
        carom_copy(x + s->nq + s->nv, rest.signals, s->nz);
        carom_shooter_apart(s, c->first, x, scale);
        for (int i = 0; i < s->n; ++i) scale[i] = s->scale[i] * fmax(1, fabs(scale[i]));
        status = carom_cycle_guess(c, x, 0, c->T, NAN);
        // at rest nothing moves but by rounding: sizes are those of the motion from the start
        for (int i = 0; i < s->n; ++i) s->scale[i] = fmax(s->scale[i], scale[i]);
    }
    if (status == CAROM_OK) status = carom_cycle_solve(c, NULL, 1);
    free(x);
    carom_equilibrium_free(&rest);
    return status;
}

// Single shooting, with other guesses where the first one fails.
static carom_status solve(carom_cycle *c) {
    carom_status status = carom_cycle_solve(c, NULL, 1);
    const carom_status first = status;
    const carom_error kept = *c->err;
    // an event may have come to the start
    for (int k = 0; k < 3 && (status == CAROM_NOT_CONVERGED || status == CAROM_UNSUPPORTED) && !c->timeless; ++k) {
        const double before = c->residual;
        if (carom_cycle_rephase(c) != CAROM_OK) break;
        status = carom_cycle_solve(c, NULL, 1);
        // hardly less: another start does not help
        if (status == CAROM_NOT_CONVERGED && c->residual > 0.9 * before) break;
    }
    if ((status == CAROM_NOT_CONVERGED || (status == CAROM_UNSUPPORTED && first == CAROM_NOT_CONVERGED)) &&
        !c->timeless && carom_cycle_near(c) == CAROM_OK)
        status = carom_cycle_solve(c, NULL, 1);
    if (status == CAROM_NOT_CONVERGED && c->s.nz > 0 && c->expression) status = from_rest(c);
    if (status == CAROM_OK || status == CAROM_STOPPED || first == CAROM_OK) return status;
    *c->err = kept; // what failed first tells most
    return first;
}

static bool unfound(carom_status status) {
    return status == CAROM_NOT_CONVERGED || status == CAROM_UNSUPPORTED || status == CAROM_SINGULAR;
}

static const double GROWS = 1e4; // in a period: pieces may do better
// not known: it may be the reason
static double growth(const carom_shooter *s) { return s->linear ? carom_norm_max(s->Y, s->n * s->m) : 1e18; }

static carom_status in_pieces(carom_orbit *o, carom_cycle *c, int pieces) {
    carom_segments g;
    carom_status status = carom_segments_open(&g, c, pieces);
    if (status == CAROM_OK) status = carom_segments_solve(&g);
    o->period = c->T, o->residual = c->residual, o->iterations = c->iterations;
    if (status == CAROM_OK) status = put_multipliers(o, c, &g) == CAROM_OK ? put_nodes(o, c, &g) : c->err->code;
    carom_segments_close(&g);
    return status;
}

// Large models: as far as one shot and few columns lead.
static carom_status find_large(carom_orbit *o, carom_cycle *c) {
    carom_status status = carom_cycle_krylov(c);
    o->period = c->T, o->residual = c->residual, o->iterations = c->iterations;
    if (status == CAROM_OK) status = put_multipliers(o, c, NULL);
    if (status == CAROM_OK) status = put_state(o, c);
    else put(o, c->x);
    return status;
}

// What one shot cannot close; from x, where the search began.
static carom_status or_in_pieces(carom_orbit *o, carom_cycle *c, const double *x, double T, carom_status status) {
    carom_shooter *s = &c->s;
    const carom_error kept = *c->err;
    const double t_0 = c->t_0, residual = c->residual, last = c->T;
    const int iterations = c->iterations, pieces = (int)fmin(60, 2 + ceil(log10(growth(s))));
    put(o, c->x);
    carom_copy(c->x, x, s->nx);
    c->T = T, c->t_0 = 0;
    if (in_pieces(o, c, pieces) == CAROM_OK) return CAROM_OK;
    carom_copy(c->x, o->q, o->nq), carom_copy(c->x + o->nq, o->v, o->nv),
        carom_copy(c->x + o->nq + o->nv, o->signals, o->nsignals);
    c->T = last, c->t_0 = t_0, c->residual = residual, c->iterations = iterations, s->linear = false;
    *c->err = kept;
    return status;
}

static carom_status put_found(carom_orbit *o, carom_cycle *c, carom_status status) {
    o->period = c->T, o->residual = c->residual, o->iterations = c->iterations;
    if (!c->s.linear) return put(o, c->x), status;
    const carom_error kept = *c->err;
    const carom_status put = put_multipliers(o, c, NULL) == CAROM_OK ? put_state(o, c) : c->err->code;
    if (status == CAROM_OK) return put;
    *c->err = kept;
    return status;
}

// The pieces that were asked for.  They begin where the search began, because the motion leads away from there (free
// periods: at the first return), or at its quiet phase, where something happens at that beginning.
static carom_status in_given_pieces(carom_orbit *o, carom_cycle *c, const double *x, int pieces) {
    carom_shooter *s = &c->s;
    const double t_0 = c->t_0;
    double *quiet = calloc((size_t)s->nx, sizeof *quiet);
    if (!quiet) return carom_orbit_no_memory(c->err);
    carom_copy(quiet, c->x, s->nx), carom_copy(c->x, x, s->nx);
    c->t_0 = 0;
    carom_status status = in_pieces(o, c, pieces);
    if (unfound(status) && t_0 > 0) {
        carom_copy(c->x, quiet, s->nx);
        c->t_0 = t_0;
        status = in_pieces(o, c, pieces);
    }
    if (status != CAROM_OK) put(o, x);
    return free(quiet), status;
}

// From a guess, whose making had this status.  x: where the search began; then where it begins here.
static carom_status find_from(carom_orbit *o, carom_cycle *c, double *x, int segments, carom_status status) {
    carom_shooter *s = &c->s;
    carom_copy(x, c->expression ? c->first : c->x, s->nx);
    const double T = c->T;
    o->segments = 1;
    if (segments > 1 && (status == CAROM_OK || c->expression)) return in_given_pieces(o, c, x, segments);
    if (s->few) return status == CAROM_OK ? find_large(o, c) : status;
    const bool guessed = status == CAROM_OK;
    if (guessed) status = solve(c);
    const bool failed =
        status == CAROM_NOT_CONVERGED || status == CAROM_SINGULAR || status == CAROM_RETRY || status == CAROM_USER;
    if (guessed && failed && segments == 0 && growth(s) > GROWS) {
        status = or_in_pieces(o, c, x, T, status);
        if (status == CAROM_OK) return CAROM_OK;
    }
    return put_found(o, c, status);
}

static carom_status make_room(carom_orbit *o, const carom_shooter *s) {
    const size_t n = (size_t)s->n;
    *o = (carom_orbit){0};
    o->nq = s->nq, o->nv = s->nv, o->nsignals = s->nz, o->nc = s->p.nc, o->scheme = s->run.scheme;
    o->q = calloc((size_t)o->nq + 1, sizeof *o->q), o->v = calloc((size_t)o->nv + 1, sizeof *o->v),
    o->advance = calloc((size_t)o->nq + 1, sizeof *o->advance);
    o->signals = calloc((size_t)s->nz + 1, sizeof *o->signals);
    o->re = calloc(n + 1, sizeof *o->re), o->im = calloc(n + 1, sizeof *o->im);
    return o->q && o->v && o->advance && o->signals && o->re && o->im ? CAROM_OK : CAROM_NO_MEMORY;
}

// Where the motion from there leads: near an orbit, if that is stable.  Else what was found first stays.
static carom_status find_later(carom_orbit *o, carom_cycle *c, double *x, double window, const carom_orbit_def *def,
                               carom_status first) {
    const carom_error kept = *c->err;
    carom_orbit later;
    carom_status status = make_room(&later, &c->s);
    if (status == CAROM_OK) {
        status = carom_cycle_guess(c, x, window, window, def->guess);
        status = find_from(&later, c, x, def->segments, status);
    }
    carom_orbit_free(status == CAROM_OK ? o : &later);
    if (status == CAROM_OK) *o = later;
    if (status == CAROM_OK || status == CAROM_STOPPED) return status;
    *c->err = kept; // what failed first tells most
    return first;
}

static carom_status find(carom_orbit *o, carom_cycle *c, const carom_orbit_def *def) {
    carom_shooter *s = &c->s;
    s->task.model = def->model, s->task.run = def->run, s->task.start = def->start, s->task.signals = def->signals;
    s->stop = def->stop, s->user = def->user;
    s->may_follow_few = def->segments <= 1 && !def->conservative && !(def->exchange && def->exchange[0]);
    CAROM_TRY(carom_cycle_open(c, def->period, def->exchange, NULL, c->err));
    if (s->few) CAROM_TRY(carom_cycle_roughly(c));
    double *x = calloc((size_t)s->n + (size_t)s->nx, sizeof *x);
    if (make_room(o, s) != CAROM_OK || !x) return free(x), carom_orbit_no_memory(c->err);
    carom_shooter_begin(s, def->start, x);
    const carom_model *m = s->task.base;
    const double window = isnan(def->run.end) ? carom_model_simulation(m).end : def->run.end;
    if (!c->expression && isnan(window)) {
        if (carom_cycle_time(c, x) == CAROM_OK)
            carom_fail(c->err, CAROM_BAD_INPUT,
                       "no end time; give `end T`, the time to search for a return of the trajectory");
        return free(x), c->err->code;
    }
    carom_status status = carom_cycle_guess(c, x, def->transient, window, def->guess);
    if (def->conservative)
        c->conservative = true, c->target = isnan(def->energy) ? carom_cycle_energy(c, x) : def->energy;
    status = find_from(o, c, x, def->segments, status);
    const bool free_period = !c->expression && !def->conservative && !def->start && def->transient == 0;
    if (free_period && unfound(status)) status = find_later(o, c, x, window, def, status);
    return free(x), status;
}

carom_status carom_orbit_find(carom_orbit *orbit, const carom_orbit_def *def, carom_error *err) {
    carom_error own;
    if (!err) err = &own;
    if (!orbit || !def || !def->period)
        return carom_fail(err, CAROM_BAD_INPUT, "an orbit, its definition or its period is missing");
    carom_cycle *c = calloc(1, sizeof *c);
    *orbit = (carom_orbit){0};
    if (!c) return carom_orbit_no_memory(err);
    c->err = err;
    const carom_status status = find(orbit, c, def);
    // the one at hand may belong to what was given
    if (orbit->scheme) orbit->scheme = carom_shooter_scheme(orbit->scheme);
    carom_cycle_close(c);
    free(c);
    return status;
}

void carom_orbit_free(carom_orbit *o) {
    if (!o) return;
    free(o->q), free(o->v), free(o->signals), free(o->advance), free(o->re), free(o->im), free(o->event), free(o->node);
    *o = (carom_orbit){0};
}

// An orbit in pieces runs from node to node.
static carom_status run_pieces(const carom_orbit *o, carom_sim_def sd, carom_sim *sim, carom_record *record, long rows,
                               double *signals, carom_error *err) {
    carom_status status = CAROM_OK;
    for (int k = 0; k < o->segments && status == CAROM_OK; ++k) {
        sd.t0 = k * o->period / o->segments;
        sd.q0 = o->node + (size_t)k * (size_t)(o->nq + o->nv + o->nsignals), sd.v0 = sd.q0 + o->nq;
        if (o->nsignals > 0) carom_copy(signals + sd.system->signals->nset, sd.v0 + o->nv, o->nsignals);
        carom_sim *piece = k > 0 ? carom_sim_create(&sd, err) : NULL;
        if (k > 0) status = piece ? carom_sim_continue(sim, piece, err) : err->code;
        carom_sim_destroy(piece);
        for (long i = 0; i < rows && status == CAROM_OK; ++i) {
            status = carom_sim_step(sim, err);
            carom_now now = carom_sim_now(sim);
            now.step = k * rows + i + 1;
            if (status == CAROM_OK) status = carom_record_step(record, &now);
        }
    }
    return status;
}

carom_status carom_orbit_record(const carom_orbit *orbit, const carom_orbit_def *def, const char *file,
                                carom_error *err) {
    if (!orbit || !def) return CAROM_MISSING(err);
    carom_error own;
    if (!err) err = &own;
    const long pieces = orbit->segments > 1 ? orbit->segments : 1, rows = (499 + pieces) / pieces;
    carom_model_def written = def->model;
    written.pairs = true;
    carom_model *m = carom_model_create(&written, err);
    if (!m) return err->code;
    carom_run run = {0};
    carom_run_given given = def->run;
    given.scheme = orbit->scheme, given.end = orbit->period, given.step = orbit->period / (double)(rows * pieces);
    carom_status status = carom_run_resolve(&run, m, &given, err);
    carom_sim_def sd = carom_run_sim(&run, m);
    sd.q0 = orbit->q, sd.v0 = orbit->v;
    double *signals = calloc((size_t)sd.system->signals->ni + 1, sizeof *signals);
    if (status == CAROM_OK && !signals) status = carom_orbit_no_memory(err);
    if (status == CAROM_OK && orbit->nsignals > 0) {
        carom_copy(signals, sd.system->signals->input, sd.system->signals->nset);
        carom_copy(signals + sd.system->signals->nset, orbit->signals, orbit->nsignals);
        sd.input = signals, sd.input_whole = true;
    }
    carom_sim *sim = status == CAROM_OK ? carom_sim_create(&sd, err) : NULL;
    carom_record_def rd = carom_record_default();
    rd.model = m, rd.sim = sim, rd.file = file, rd.step = given.step, rd.end = orbit->period, rd.every = 1,
    rd.replace = true;
    rd.text = def->model.text, rd.length = def->model.length, rd.model_file = def->model.file, rd.set = def->model.set,
    rd.options = (const char *const *)run.options;
    carom_record *record = sim ? carom_record_create(&rd, err) : NULL;
    if (status == CAROM_OK && !record) status = err->code;
    if (status == CAROM_OK)
        status = pieces > 1 ? run_pieces(orbit, sd, sim, record, rows, signals, err)
                            : carom_sim_run_lazily(sim, carom_record_step, record, err);
    if (status == CAROM_OK) status = carom_record_finish(record, "done", NULL, err);
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    carom_run_free(&run);
    carom_model_destroy(m);
    free(signals);
    return status;
}

// -- nonlinear modes --------------------------------------------------------------------------------------------------

// Energy of the equilibrium with the velocities of a shape.
static double energy_at(const carom_model *m, carom_point *p, const carom_equilibrium *rest, const double *shape,
                        double size, double *x) {
    const carom_system *s = carom_model_system(m);
    double kinetic = 0, potential = 0;
    carom_copy(x, rest->q, s->nq);
    carom_model_at_rest(m, rest->q, x + s->nq);
    for (int i = 0; i < s->nv; ++i) x[s->nq + i] += size * shape[i];
    if (s->energy) s->energy(s->model, p->work, 0, x, x + s->nq, &kinetic, &potential);
    return kinetic + potential;
}

carom_status carom_orbit_mode(const carom_model *m, int mode, double energy, double *x, double *period,
                              carom_error *err) {
    if (!m || !x || !period) return CAROM_MISSING(err);
    carom_equilibrium rest;
    carom_modes modes = {0};
    carom_point p = {0};
    carom_status status = carom_equilibrium_find(&rest, m, NULL, err);
    if (status == CAROM_OK) status = carom_modes_find(&modes, m, &(carom_modes_def){.q = rest.q}, err);
    if (status == CAROM_OK) status = carom_point_open(&p, m, err);
    int found = -1, count = 0;
    for (int i = 0; i < modes.count && status == CAROM_OK; ++i)
        if (modes.mode[i].im != 0 && ++count == mode) found = i;
    if (status == CAROM_OK && found < 0)
        status = carom_fail(err, CAROM_BAD_INPUT,
                            "`mode`: expected a number from 1 to %d, the modes that oscillate, got %d", count, mode);
    if (status == CAROM_OK) {
        const double *shape = modes.mode[found].shape, rest_energy = energy_at(m, &p, &rest, shape, 0, x);
        const double kinetic = energy_at(m, &p, &rest, shape, 1, x) - rest_energy; // quadratic in the velocities
        if (!(energy > rest_energy))
            status =
                carom_fail(err, CAROM_BAD_INPUT, "the energy must be above that of the equilibrium, %.9g, got %.9g",
                           rest_energy, energy);
        else energy_at(m, &p, &rest, shape, sqrt((energy - rest_energy) / kinetic), x);
        *period = 8 * atan(1) / fabs(modes.mode[found].im);
    }
    carom_equilibrium_free(&rest);
    carom_modes_free(&modes);
    carom_point_close(&p);
    return status;
}
