// basins.c: which initial values lead to which attractor.
//
// A run is followed from section point to section point x_1, x_2, ...; without a section the states at its ends take
// their place.  It is periodic with the least k for which
//
//     |x_n - x_(n-k)| <= NEAR |x|   for the last 2 k points, by component                                 (BAS-1)
//
// in units of the largest values that this run has seen.  Runs whose steps follow from a tolerance do not repeat
// themselves better than to FINE of it, and may repeat what steps leave with a period of its own.  The period is then
// the least one for which this holds, or for which, over all points of the second half,
//
//     |x_n - x_(n-k)| <= FINE rtol |x|                                                                    (BAS-2)
//
// Two runs have one attractor when their orbits share a point within SHARED, irregular ones when their means are the
// same within their errors, or within ALIKE.
#define _POSIX_C_SOURCE 200809L // clock_gettime, pthread_cond_timedwait
#include "base/grow.h"
#include "base/news.h"
#include "base/number.h"
#include "base/text.h"
#include "base/tolerance.h"
#include "dynamics/dynamics.h"
#include "io/table.h"
#include "model/forcing.h"
#include "sweep/lanes.h"
#include "sweep/shards.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double NEAR = 1e-6, SHARED = 1e-3; // of the size of a component
static const double FINE = 10;                  // of the tolerance of runs
static const double ALIKE = 0.05, DOUBTFUL = 4; // of the size, and of the error: means of irregular motions that count
                                                // as one
static const double SMALLEST = 1e-9;            // of the largest component: less is zero
enum {
    PIECE = 8,
    LONGEST = 16,
    MOST = 400,
    MANY = 300,
    BLOCKS = 8
}; // section points at once; of a period; of a run; for exponents; parts of a run whose means tell the error of its own

typedef enum basin_kind { BASIN_PERIODIC, BASIN_REST, BASIN_IRREGULAR, BASIN_OUT } basin_kind;

// What became of one run.
typedef struct fate {
    basin_kind kind;
    int period, status;
    long points;   // until it was decided
    double *x;     // the last `period` points, n each, the last one first; irregular: the mean of the second half
    double *size;  // n: largest values of each component in the second half
    double *error; // n: irregular: the standard error of the mean
    double *state; // at its end
    double last;   // what the last period still changed
    double T;      // time of the last period
    char *message;
    bool done;
} fate;

typedef struct attractor {
    basin_kind kind;
    int period;
    long count, run; // run: whose points are known best
    bool chaotic;
    double multiplier, exponent;
    int label;
} attractor;

typedef struct basins {
    carom_basins *b;
    const carom_basins_def *def;
    carom_sweep *s;
    fate *fate;
    int n, longest;
    long most;
    const char **observe;
    char **own, section[60];
    int nown;
    double *size; // n: of each component, over all runs
    double fine;  // FINE times the tolerance of the runs; 0: steps are given
    attractor *found;
    int nfound, *label; // of every run: attractor, -1: none
    pthread_mutex_t lock;
    pthread_cond_t news;
    long next, done;
    int ended;
    bool failed;
    carom_error *err;
} basins;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for basins");
}

// -- one run ------------------------------------------------------------------------------------------------------

// Points of a run so far; each is t, then n numbers.
typedef struct track {
    double *row;
    long points;
    double *size;
} track;

static const double *point(const basins *k, const track *t, long i) {
    return t->row + (size_t)(t->points - 1 - i) * (size_t)(1 + k->n);
} // i-th last

static double apart(const basins *k, const double *size, const double *a, const double *b) {
    double most = 0, largest = 0;
    for (int i = 0; i < k->n; ++i) largest = fmax(largest, size[i]);
    for (int i = 0; i < k->n; ++i)
        most = fmax(most, fabs(a[i] - b[i]) / fmax(size[i], fmax(SMALLEST * largest, CAROM_NOT_ZERO)));
    return most;
}

// By how much so many of the last points differ from those p before them.
static double off_period(const basins *k, const track *t, int p, long points) {
    double most = 0;
    for (long i = 0; i < points; ++i)
        most = fmax(most, apart(k, t->size, point(k, t, i) + 1, point(k, t, i + p) + 1));
    return most;
}

// (BAS-1), (BAS-2)  last: no more points will come.
static int period_of(const basins *k, const track *t, bool last, double *off) {
    int period = 0;
    for (int p = 1; p <= k->longest && 3 * p <= t->points && !period; ++p)
        if ((*off = off_period(k, t, p, 2 * p)) <= NEAR) period = p;
    for (int p = 1; p < period; ++p)
        if (period % p == 0 && off_period(k, t, p, 2 * p) <= k->fine) return p;
    for (int p = 1; p <= k->longest && 4 * p <= t->points && !period && last; ++p)
        if ((*off = off_period(k, t, p, t->points / 2)) <= k->fine) period = p;
    return period;
}

// The mean of the second half, and its standard error by means over blocks.
static void mean_of(const basins *k, const track *t, double *mean, double *error) {
    const long points = (t->points + 1) / 2, block = points / BLOCKS;
    for (int c = 0; c < k->n; ++c) {
        double squares = 0;
        for (long i = 0; i < points; ++i) mean[c] += point(k, t, i)[1 + c] / (double)points;
        for (int b = 0; b < BLOCKS && block > 0; ++b) {
            double of = 0;
            for (long i = b * block; i < (b + 1) * block; ++i) of += point(k, t, i)[1 + c] / (double)block;
            squares += (of - mean[c]) * (of - mean[c]);
        }
        error[c] = sqrt(squares / (BLOCKS * (BLOCKS - 1)));
    }
}

static bool add_points(basins *k, track *t, const outcome *o) {
    const size_t width = 1 + (size_t)k->n;
    const bool section = k->s->section.kind != SECTION_NONE;
    const long more = section ? o->points : o->status == 0;
    for (long i = 0; i < more; ++i) {
        if (!carom_grow(&t->row, (size_t)t->points, width * sizeof *t->row)) return false;
        double *to = t->row + (size_t)t->points++ * width;
        if (section)
            carom_copy(to, o->section + (size_t)i * width, (ptrdiff_t)width);
        else
            to[0] = k->s->pieces ? o->end[carom_sweep_state(k->s) - 2] : 0, carom_copy(to + 1, o->observed, k->n);
        for (int c = 0; c < k->n; ++c) t->size[c] = fmax(t->size[c], fabs(to[1 + c]));
    }
    return true;
}

static bool finite(const double *x, int n) {
    for (int i = 0; i < n; ++i)
        if (!isfinite(x[i])) return false;
    return true;
}

// Is a run that no longer meets its section at rest?  Its rates are gone.
static bool rests(const basins *k, const double *state, const track *t) {
    const carom_system *sys = carom_model_system(k->s->model);
    double speed = 0, size = 0;
    for (int i = 0; i < sys->nv; ++i) speed = fmax(speed, fabs(state[sys->nq + i]));
    for (int i = 0; i < k->n; ++i) size = fmax(size, t->size[i]);
    return finite(state, sys->nq + sys->nv) && speed <= NEAR * fmax(size, CAROM_NOT_ZERO);
}

static bool decide(basins *k, fate *f, const track *t, const outcome *o, bool last) {
    const int n = k->n;
    const size_t state = (size_t)carom_sweep_state(k->s);
    const bool section = k->s->section.kind != SECTION_NONE;
    double *x = NULL;
    f->status = o->status, f->points = t->points;
    if (o->status != 0) { // it does not go on, or does not come back to the section
        const bool rest = section && o->end && rests(k, o->end, t);
        f->kind = rest ? BASIN_REST : BASIN_OUT, f->period = rest;
        x = calloc((size_t)n + 1, sizeof *x);
        if (x && rest) carom_copy(x, o->observed, n), f->status = 0;
    } else {
        f->period = period_of(k, t, last, &f->last);
        if (!f->period && !last) return false;
        f->kind = f->period ? section ? BASIN_PERIODIC : BASIN_REST : BASIN_IRREGULAR;
        const int points = f->period ? f->period : 1;
        x = calloc((size_t)points * (size_t)n + 1, sizeof *x);
        for (int p = 0; x && p < points; ++p) carom_copy(x + (size_t)p * (size_t)n, point(k, t, p) + 1, n);
        if (f->period)
            f->T = point(k, t, 0)[0] - point(k, t, f->period)[0];
        else if (x && (f->error = calloc((size_t)n + 1, sizeof *f->error))) {
            f->T = t->points > 1 ? point(k, t, 0)[0] - point(k, t, 1)[0] : 0;
            f->last = 0;
            carom_zero(x, n);
            mean_of(k, t, x, f->error);
        }
    }
    f->x = x;
    f->size = calloc((size_t)n + 1, sizeof *f->size);
    for (long i = 0; f->size && i < (t->points + 1) / 2; ++i)
        for (int c = 0; c < n; ++c) f->size[c] = fmax(f->size[c], fabs(point(k, t, i)[1 + c]));
    f->state = malloc(state * sizeof *f->state);
    if (f->state && o->end) memcpy(f->state, o->end, state * sizeof *f->state);
    f->done = f->x && f->size && f->state && (f->kind != BASIN_IRREGULAR || f->error);
    if (f->status != 0 && o->message && (f->message = malloc(strlen(o->message) + 1))) strcpy(f->message, o->message);
    return true;
}

// Piece by piece, until it is decided.
static void follow(basins *k, long run) {
    fate *f = &k->fate[run];
    track t = {.size = calloc((size_t)k->n + 1, sizeof *t.size)};
    double *start = NULL;
    bool good = t.size != NULL, decided = false;
    while (good && !decided && !atomic_load(&k->s->stop)) {
        outcome o = {0};
        carom_sweep_single(k->s, run, start, &o);
        good = o.done && add_points(k, &t, &o);
        decided = good && decide(k, f, &t, &o, t.points >= k->most);
        free(start);
        start = o.end, o.end = NULL;
        carom_outcome_free(&o);
    }
    free(start), free(t.row), free(t.size);
}

static void *worker(void *user) {
    basins *k = user;
    pthread_mutex_lock(&k->lock);
    while (k->next < k->s->runs && !atomic_load(&k->s->stop)) {
        const long run = k->next++;
        pthread_mutex_unlock(&k->lock);
        follow(k, run);
        pthread_mutex_lock(&k->lock);
        k->failed = k->failed || (!k->fate[run].done && !atomic_load(&k->s->stop));
        if (k->failed) atomic_store(&k->s->stop, true);
        ++k->done;
    }
    ++k->ended;
    pthread_cond_signal(&k->news);
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static void look_after(basins *k, int started) {
    pthread_mutex_lock(&k->lock);
    while (k->ended < started) {
        carom_news_wait(&k->news, &k->lock, 100);
        const long done = k->done;
        pthread_mutex_unlock(&k->lock);
        if (k->def->tick && !k->def->tick(k->def->user, done, k->s->runs)) atomic_store(&k->s->stop, true);
        pthread_mutex_lock(&k->lock);
    }
    pthread_mutex_unlock(&k->lock);
}

static carom_status run_all(basins *k) {
    const int wanted = k->def->sweep.jobs > 1 ? (int)fmin(k->def->sweep.jobs, (double)k->s->runs) : 1;
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    if (!threads) return no_memory(k->err);
    pthread_mutex_init(&k->lock, NULL);
    carom_news_init(&k->news);
    int started = 0;
    while (started < wanted && pthread_create(&threads[started], NULL, worker, k) == 0) ++started;
    if (started > 0) look_after(k, started);
    for (int i = 0; i < started; ++i) pthread_join(threads[i], NULL);
    pthread_cond_destroy(&k->news);
    pthread_mutex_destroy(&k->lock);
    free(threads);
    if (started == 0 || k->failed) return no_memory(k->err);
    return atomic_load(&k->s->stop) ? carom_fail(k->err, CAROM_STOPPED, "stopped") : CAROM_OK;
}

// In lanes, or on a GPU: all points of a run at once.
static carom_status run_lanes(basins *k) {
    carom_sweep *s = k->s;
    const long block = s->gpu ? s->runs : s->lanes->block;
    for (long first = 0; first < s->runs; first += block) {
        const long end = s->runs - first < block ? s->runs : first + block;
        outcome *o = calloc((size_t)(end - first), sizeof *o);
        if (!o) return no_memory(k->err);
        if (s->gpu) {
            const carom_status status = carom_gpu_block(s, first, end, o, k->err);
            if (status != CAROM_OK) return free(o), status;
        } else
            carom_lanes_block(s, first, end, o);
        bool good = true;
        for (long i = first; i < end && good; ++i) {
            track t = {.size = calloc((size_t)k->n + 1, sizeof *t.size)};
            good = t.size && o[i - first].done && add_points(k, &t, &o[i - first]) &&
                   decide(k, &k->fate[i], &t, &o[i - first], true) && k->fate[i].done;
            free(t.row), free(t.size);
        }
        for (long i = first; i < end; ++i) carom_outcome_free(&o[i - first]);
        free(o);
        k->done = end;
        if (!good) return no_memory(k->err);
        if (k->def->tick && !k->def->tick(k->def->user, k->done, s->runs))
            return carom_fail(k->err, CAROM_STOPPED, "stopped");
    }
    return CAROM_OK;
}

// -- attractors ---------------------------------------------------------------------------------------------------

static bool same_mean(const basins *k, const fate *a, const fate *b) {
    for (int c = 0; c < k->n; ++c) {
        const double doubt = DOUBTFUL * hypot(a->error[c], b->error[c]);
        if (fabs(a->x[c] - b->x[c]) > fmax(ALIKE * k->size[c], doubt)) return false;
    }
    return true;
}

static bool is_same(const basins *k, const attractor *a, const fate *f) {
    const fate *of = &k->fate[a->run];
    if (f->kind != a->kind) return false;
    if (f->kind == BASIN_OUT) return true;
    if (f->kind == BASIN_IRREGULAR) return same_mean(k, f, of);
    if (f->period != a->period) return false;
    for (int p = 0; p < of->period; ++p)
        if (apart(k, k->size, f->x, of->x + (size_t)p * (size_t)k->n) <= fmax(SHARED, k->fine)) return true;
    return false;
}

static carom_status gather(basins *k) {
    for (long r = 0; r < k->s->runs; ++r)
        for (int i = 0; i < k->n && k->fate[r].kind != BASIN_OUT; ++i)
            k->size[i] = fmax(k->size[i], fmax(k->fate[r].size[i], fabs(k->fate[r].x[i])));
    for (long r = 0; r < k->s->runs; ++r) {
        const fate *f = &k->fate[r];
        int a = 0;
        while (a < k->nfound && !is_same(k, &k->found[a], f)) ++a;
        if (a == k->nfound) {
            if (!CAROM_GROW(k->found, k->nfound)) return no_memory(k->err);
            k->found[k->nfound++] =
                (attractor){.kind = f->kind, .period = f->period, .run = r, .multiplier = NAN, .exponent = NAN};
        }
        ++k->found[a].count;
        if (f->last < k->fate[k->found[a].run].last) k->found[a].run = r;
        k->label[r] = a;
    }
    // Attractors by size from 1 on; what ran away is 0.
    int next = 0;
    for (int i = 0; i < k->nfound; ++i) {
        int best = -1;
        for (int a = 0; a < k->nfound; ++a)
            if (k->found[a].label == 0 && k->found[a].kind != BASIN_OUT &&
                (best < 0 || k->found[a].count > k->found[best].count))
                best = a;
        if (best >= 0) k->found[best].label = ++next;
    }
    return CAROM_OK;
}

// The model of a run, as settings behind those given; to be freed as one block.
static const char **settings(const basins *k, long run) {
    enum { TEXT = 200 };
    const carom_sweep *s = k->s;
    size_t n = (size_t)carom_list_length(k->def->sweep.model.set);
    double *value = calloc((size_t)s->nvary + 1, sizeof *value);
    const char **set = value ? calloc((n + (size_t)s->nvary + 1) * sizeof *set + (size_t)s->nvary * TEXT, 1) : NULL;
    if (!set) return free(value), NULL;
    char *text = (char *)(set + n + (size_t)s->nvary + 1);
    for (size_t i = 0; i < n; ++i) set[i] = k->def->sweep.model.set[i];
    carom_sweep_values(s, run, value);
    for (int i = 0; i < s->nvary; ++i, text += TEXT) {
        if (s->vary[i].kind != VARY_PARAMETER) continue;
        carom_format(text, TEXT, "%.150s=%.17g", s->vary[i].name, value[i]);
        set[n++] = text;
    }
    free(value);
    return set;
}

// Multipliers of a periodic orbit, the largest exponent of an irregular motion.  Where there are none the numbers stay
// NaN.
static carom_status examine(basins *k, attractor *a) {
    const fate *f = &k->fate[a->run];
    const carom_sweep_def *d = &k->def->sweep;
    if (a->kind == BASIN_OUT || a->kind == BASIN_REST || !finite(f->state, k->s->nq + k->s->nv)) return CAROM_OK;
    if (k->s->section.kind != SECTION_EVERY && k->s->driven)
        return CAROM_OK; // the end of the run has another phase than t = 0
    const char **set = settings(k, a->run);
    char period[40];
    if (!set) return no_memory(k->err);
    carom_error why = {0};
    if (a->kind == BASIN_PERIODIC) {
        carom_orbit orbit;
        carom_format(period, sizeof period, "%.17g", f->T);
        carom_orbit_def o = {.model = d->model,
                             .run = carom_run_nothing(),
                             .start = f->state,
                             .period = k->s->section.kind == SECTION_EVERY ? period : "free",
                             .guess = f->T};
        o.model.set = set;
        if (carom_orbit_find(&orbit, &o, &why) == CAROM_OK) a->multiplier = orbit.largest;
        carom_orbit_free(&orbit);
    } else {
        carom_lyapunov x;
        carom_lyapunov_def l = {.model = d->model, .run = carom_run_nothing(), .start = f->state};
        l.model.set = set;
        l.run.end = f->T > 0 ? MANY * f->T : 5 * carom_model_simulation(k->s->model).end;
        if (carom_lyapunov_find(&x, &l, &why) == CAROM_OK && x.n > 0)
            // three times its error: it is not 0
            a->exponent = x.exponent[0], a->chaotic = x.exponent[0] > 3 * x.error[0];
        carom_lyapunov_free(&x);
    }
    free(set);
    return CAROM_OK;
}

// -- tables -------------------------------------------------------------------------------------------------------

static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static const char *word(const attractor *a) {
    return a->kind == BASIN_OUT        ? "out"
           : a->kind == BASIN_REST     ? "rest"
           : a->kind == BASIN_PERIODIC ? "periodic"
           : a->chaotic                ? "chaotic"
                                       : "undecided";
}

static carom_status make_table(basins *k, carom_table *t, const char *name, long rows, const char *const *fixed,
                               const char *kinds, int varied) {
    const int first = (int)strlen(kinds);
    t->columns = first + varied + k->n;
    t->name = copy_of(name);
    t->column = calloc((size_t)t->columns, sizeof *t->column);
    if (!t->column || !t->name) return no_memory(k->err);
    for (int c = 0; c < t->columns; ++c) { // the first one, those that are varied, the others, the points (end.x)
        const int f = c == 0 ? 0 : c - varied;
        const bool vary = c > 0 && c <= varied;
        const char *text = vary ? k->s->vary[c - 1].name : f < first ? fixed[f] : k->s->observe[f - first];
        const char kind = vary || f >= first ? 'r' : kinds[f];
        char point[200];
        if (!vary && f >= first)
            snprintf(point, sizeof point, "%s%.*s", varied ? "end." : "", (int)fmin(180, (double)strlen(text) - 2),
                     text + 1); // without its parentheses
        t->column[c].name = copy_of(!vary && f >= first ? point : text);
        t->column[c].kind = kind == 'i' ? CAROM_COLUMN_INTEGER : kind == 't' ? CAROM_COLUMN_TEXT : CAROM_COLUMN_REAL;
        if (!t->column[c].name) return no_memory(k->err);
    }
    return carom_table_reserve(t, rows, k->err);
}

static bool put_text(carom_column *c, long row, const char *text) {
    return free(c->text[row]), (c->text[row] = copy_of(text)) != NULL;
}

static carom_status write_runs(basins *k) {
    static const char *const fixed[] = {"run", "status", "message", "label", "period", "points"};
    carom_table *t = &k->b->runs;
    const int varied = k->s->nvary;
    CAROM_TRY(make_table(k, t, "runs", k->s->runs, fixed, "iitiii", varied));
    double *value = calloc((size_t)varied + 1, sizeof *value);
    bool good = value != NULL;
    for (long r = 0; good && r < k->s->runs; ++r) {
        const fate *f = &k->fate[r];
        carom_column *c = t->column;
        carom_sweep_values(k->s, r, value);
        c[0].integer[r] = r;
        for (int i = 0; i < varied; ++i) c[1 + i].real[r] = value[i];
        c += varied;
        c[1].integer[r] = f->status, c[3].integer[r] = k->found[k->label[r]].label, c[4].integer[r] = f->period,
        c[5].integer[r] = f->points;
        good = put_text(&c[2], r, f->message ? f->message : "");
        for (int i = 0; i < k->n; ++i) c[6 + i].real[r] = f->kind == BASIN_OUT ? NAN : f->x[i];
    }
    free(value);
    return good ? CAROM_OK : no_memory(k->err);
}

static carom_status write_attractors(basins *k) {
    static const char *const fixed[] = {"label", "kind", "period", "count", "multiplier", "exponent", "point"};
    carom_table *t = &k->b->attractors;
    long rows = 0, r = 0;
    bool good = true;
    for (int a = 0; a < k->nfound; ++a) rows += k->found[a].period > 1 ? k->found[a].period : 1;
    CAROM_TRY(make_table(k, t, "attractors", rows, fixed, "itiirri", 0));
    for (int label = 0; label <= k->nfound; ++label)
        for (int i = 0; i < k->nfound; ++i) {
            const attractor *a = &k->found[i];
            if (a->label != label) continue;
            for (int p = 0; p < (a->period > 1 ? a->period : 1); ++p, ++r) {
                carom_column *c = t->column;
                c[0].integer[r] = label, c[2].integer[r] = a->period, c[3].integer[r] = a->count,
                c[4].real[r] = a->multiplier, c[5].real[r] = a->exponent, c[6].integer[r] = p + 1;
                good = good && put_text(&c[1], r, word(a));
                for (int j = 0; j < k->n; ++j)
                    c[7 + j].real[r] =
                        a->kind == BASIN_OUT ? NAN : k->fate[a->run].x[(size_t)p * (size_t)k->n + (size_t)j];
            }
        }
    return good ? CAROM_OK : no_memory(k->err);
}

// -- all of it ----------------------------------------------------------------------------------------------------

// Expression i, in parentheses: a sweep has no column of the name of what is varied.
static carom_status observe_one(basins *k, const char *text) {
    if (!CAROM_GROW(k->own, k->nown)) return no_memory(k->err);
    char *own = k->own[k->nown] = malloc(strlen(text) + 3);
    if (!own) return no_memory(k->err);
    ++k->nown;
    snprintf(own, strlen(text) + 3, "(%s)", text);
    return CAROM_OK;
}

// What is observed: as given, or all coordinates and rates that are recorded.
static carom_status observe(basins *k, const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    const char *const *given = k->def->sweep.observe;
    const bool all = !given || !given[0];
    for (int i = 0; !all && given[i]; ++i) CAROM_TRY(observe_one(k, given[i]));
    for (int i = 0; all && i < sys->nq + sys->nv; ++i) {
        const bool position = i < sys->nq;
        if (position ? carom_model_recorded(m, i) : carom_model_velocity_recorded(m, i - sys->nq))
            CAROM_TRY(observe_one(k, position ? carom_model_coordinate(m, i) : carom_model_velocity(m, i - sys->nq)));
    }
    k->observe = calloc((size_t)k->nown + 1, sizeof *k->observe);
    if (!k->observe) return no_memory(k->err);
    for (int i = 0; i < k->nown; ++i) k->observe[i] = k->own[i];
    return CAROM_OK;
}

// The tolerance that steps follow from; 0: they are given.
static carom_status find_tolerance(basins *k, const carom_model *m) {
    enum { TEXT = 1000 };
    char text[TEXT + 1] = " ";
    carom_run run;
    CAROM_TRY(carom_run_resolve(&run, m, &k->def->sweep.run, k->err));
    const carom_sim_def d = carom_run_sim(&run, m);
    carom_sim *sim = carom_sim_create(&d, k->err);
    if (!sim) return carom_run_free(&run), k->err->code;
    carom_sim_options_text(sim, text + 1, TEXT);
    const bool controlled = carom_sim_scheme(sim)->controls_own_steps || strstr(text, " adaptive=on");
    const char *rtol = controlled ? strstr(text, " rtol=") : NULL;
    k->fine = rtol ? FINE * carom_number(rtol + sizeof " rtol=" - 1, NULL) : 0;
    carom_sim_destroy(sim);
    carom_run_free(&run);
    return CAROM_OK;
}

static carom_status open(basins *k) {
    carom_sweep_def d = k->def->sweep;
    carom_model_def md = d.model;
    md.observe = NULL;
    carom_model *m = carom_model_create(&md, k->err);
    if (!m) return k->err->code;
    carom_status status = observe(k, m);
    d.observe = k->observe;
    carom_forcing f;
    if (status == CAROM_OK) status = carom_model_forcing(m, -1, &f, k->err);
    if (status == CAROM_OK && !d.section && f.forced && !(f.period > 0))
        status = carom_fail(k->err, CAROM_BAD_INPUT,
                            "time enters %s, and the period is not known; give `section 'every PERIOD'`", f.where);
    if (status == CAROM_OK && !d.section && f.forced) {
        carom_format(k->section, sizeof k->section, "every %.17g", f.period);
        d.section = k->section;
    }
    if (status == CAROM_OK && (d.follow != CAROM_FOLLOW_NONE || d.parts > 0))
        status = carom_fail(k->err, CAROM_BAD_INPUT, "basins have neither `follow` nor `part`");
    k->most = d.count > 0 ? d.count : MOST, k->longest = LONGEST;
    const bool lanes = d.lanes != CAROM_LANES_OFF || d.gpu;
    d.count = !d.section ? 0 : lanes ? k->most : PIECE;
    if (status == CAROM_OK) {
        k->s = carom_sweep_create(&d, k->err);
        status = k->s ? find_tolerance(k, m) : k->err->code;
    }
    carom_model_destroy(m);
    CAROM_TRY(status);
    k->n = k->s->nobserve;
    if (!k->s->lanes) {
        if (lanes && d.section) k->s->def.count = PIECE;         // --lanes auto, and they do not do
        k->s->def.follow = CAROM_FOLLOW_UP, k->s->pieces = true; // a chain of one run: it hands its end on to itself
    }
    CAROM_TRY(carom_sweep_look_for_time(k->s, k->err));
    k->fate = calloc((size_t)k->s->runs + 1, sizeof *k->fate),
    k->label = calloc((size_t)k->s->runs + 1, sizeof *k->label), k->size = calloc((size_t)k->n + 1, sizeof *k->size);
    return k->fate && k->label && k->size ? CAROM_OK : no_memory(k->err);
}

static carom_status find(basins *k) {
    CAROM_TRY(open(k));
    CAROM_TRY(k->s->lanes ? run_lanes(k) : run_all(k));
    CAROM_TRY(gather(k));
    for (int a = 0; a < k->nfound; ++a) CAROM_TRY(examine(k, &k->found[a]));
    CAROM_TRY(write_runs(k));
    return write_attractors(k);
}

carom_status carom_basins_find(carom_basins *b, const carom_basins_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (b) *b = (carom_basins){0};
    if (!b || !def) return carom_fail(err, CAROM_BAD_INPUT, "basins need a definition and a result pointer");
    basins k = {.b = b, .def = def, .err = err};
    const carom_status status = find(&k);
    for (long r = 0; k.fate && r < k.s->runs; ++r)
        free(k.fate[r].x), free(k.fate[r].size), free(k.fate[r].error), free(k.fate[r].state), free(k.fate[r].message);
    free(k.fate), free(k.label), free(k.size), free(k.found);
    if (k.s) k.s->def.follow = CAROM_FOLLOW_NONE;
    carom_sweep_destroy(k.s);
    for (int i = 0; i < k.nown; ++i) free(k.own[i]);
    free(k.own), free(k.observe);
    return status;
}

void carom_basins_free(carom_basins *b) {
    if (!b) return;
    carom_table_free(&b->runs);
    carom_table_free(&b->attractors);
    *b = (carom_basins){0};
}
