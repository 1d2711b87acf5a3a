// test_figures.c: what every scheme and every solver computes on small models and problems, compared with a table.
//
// Other tests ask whether an answer is right.  This one asks whether it is the same as before: a change of any number
// in a scheme, in the detection of events, in the laws of contact or in a solver shows here, whatever tolerance it
// would pass elsewhere.  Where a change is meant, look at the lines that the test prints, and write the table anew:
//
//     build/test/test_figures print >figures.new && mv figures.new test/figures.txt
//
// Another processor rounds in other places.  There, with the same sources, `test_figures widen` prints the table with
// tolerances that hold its figures as well; `print` keeps the tolerances of the table that it finds.
//
// The test suite runs it in four parts, `test_figures 1` to `test_figures 4`: three models and three problems of every
// twelve each.  Without a number it runs all.
//
// Behind each sum stands its tolerance: 100 times as much as velocities that are changed by rounding change it, at
// least 1e-9.  Sums that change by more than a thousandth are not compared (`~`): where contacts contradict each other,
// rounding decides.  Counts are exact; where a thousand times as much changes them, they may differ by four times that,
// at most by 2 and a twentieth.  The last count is that of calls of the model (counted.h): work shows there that no
// result shows.
//
// The table alone would keep a wrong figure for ever.  So schemes are compared with each other, too: their motions
// agree with that of event-driven to the accuracy of a step, on every model whose motion is unique.  So are the
// velocities of all solvers that solve a problem.
#include "counted.h"
#include "figures_models.h"
#include "ignoring.h"
#include "model_text.h"
#include "problems.h"
#include "contact/energetic.h"
#include "sim/inspect.h"
#include "solver/solvers.h"
#include <carom/event.h>
#include <carom/team.h>

// -- figures ----------------------------------------------------------------------------------------------------------

enum { MOTION, REACTIONS, EVENTS, ENERGY, BOOKS, REALS };
enum { STEPS, PROBLEMS, ITERATIONS, NEWTON, FALLBACKS, INNER, HAPPENED, MARKS, CALLS, COUNTS };

// A line of the table: sums that must be equal up to rounding, and counts that may differ a little.
typedef struct figures {
    char key[120];
    double real[REALS];
    long count[COUNTS];
    bool failed;
} figures;

// Weights tell components and steps apart.
static double weight(long i) { return 1 + fmod(0.6180339887498949 * (double)(i + 1), 1); }

static void add(double *to, const double *x, int n, long step) {
    for (int i = 0; x && i < n; ++i) *to += weight(step) * weight(3 * i) * x[i];
}

static double nudge; // relative change of what a run, or a solver, starts from

// -- schemes ----------------------------------------------------------------------------------------------------------

static void look(figures *f, const carom_now *now, const carom_system *sys) {
    const int n = now->dir[sys->ne + sys->nc];
    add(&f->real[MOTION], now->q, sys->nq, now->step);
    add(&f->real[MOTION], now->v, sys->nv, now->step + 1);
    for (int i = 0; i < sys->ne + sys->nc - sys->listed; ++i)
        f->real[MOTION] += weight(now->step) * weight(2 * i) * fmin(now->gap[i], 1);
    if (now->reacted) {
        add(&f->real[REACTIONS], now->impulse, n, now->step);
        add(&f->real[REACTIONS], now->force, n, now->step + 1);
    }
    add(&f->real[REACTIONS], now->nu, n, now->step + 2);
    add(&f->real[REACTIONS], now->lasting, n, now->step + 3);
    for (int i = 0; i < now->nevents; ++i) {
        const carom_event *e = &now->events[i];
        f->real[EVENTS] +=
            weight(e->contact) * (1 + (int)e->kind) * (e->t + 0.1 * e->before + 0.2 * e->after + 0.3 * e->impulse);
    }
    f->count[HAPPENED] += now->nevents;
}

// What schemes show on the way: ends of internal steps, states inside a step, both sides of events, changes of modes.

static carom_status inner(void *user, double t, const double *q, const double *v) {
    figures *f = user;
    f->real[MOTION] += 0.01 * t * (q[0] + v[0]);
    return CAROM_OK;
}

static carom_status side(void *user, carom_side side, double t, const double *q, const double *v) {
    figures *f = user;
    f->real[EVENTS] += (1 + (int)side) * (t + q[0] + v[0]);
    return CAROM_OK;
}

static carom_status change(void *user, const carom_change *c) {
    figures *f = user;
    f->real[EVENTS] +=
        (1 + (int)c->kind) * (c->t + 10 * (c->t - c->t_before) + c->v[0] - c->v_before[0] + c->q[0] + c->q_before[0] +
                              c->mode[0] + 2 * c->mode_before[0] + c->impulse[0] + c->in[0]);
    return CAROM_OK;
}

static void watch(carom_sim *sim, figures *f) {
    if (!carom_sim_watch_dense(sim, 2, inner, f)) carom_sim_watch_inner(sim, inner, f);
    if (carom_sim_system(sim)->nc == 0) return;
    carom_sim_watch_events(sim, side, f);
    carom_sim_watch_changes(sim, change, f);
}

// What the ledger tells beside energies.  Places and times of sizes that are not rounding alone; warnings.
static void close_other_books(figures *f, carom_sim *sim, const carom_ledger *l) {
    static carom_warning list[CAROM_WARNINGS];
    const int warnings = carom_sim_warnings(sim, l, list);
    const carom_counts *c = &l->counts;
    const double books[] = {l->energy.start,
                            l->energy.end,
                            l->energy.balance,
                            l->energy.identity > 1e-9 ? l->energy.identity : 0,
                            c->violation,
                            c->terms,
                            l->sleep.energy,
                            c->accepted_residual,
                            c->missed ? c->missed_t : 0,
                            l->moved > 1e-9 ? l->moved_t : 0,
                            c->residual > 1e-9 ? c->residual + l->residual_t : 0,
                            1e-3 * sqrt(fabs(l->pace[0].stiffness)),
                            1e-3 * l->pace[0].damping,
                            1e-3 * sqrt(fabs(l->pace[1].stiffness)),
                            1e-3 * l->pace[1].damping};
    add(&f->real[BOOKS], books, sizeof books / sizeof *books, 1);
    const int id[] = {l->penetration > 1e-9 ? l->penetration_id : -1,
                      l->drift > 1e-9 ? l->drift_id : -1,
                      l->impulses.gain > 1e-9 ? l->impulses.gain_id : -1,
                      l->moved > 1e-9 ? l->moved_id : -1,
                      c->missed ? c->missed_id : -1,
                      c->residual > 1e-9 ? c->residual_id : -1};
    for (int i = 0; i < 6; ++i) f->count[MARKS] += (i + 1) * id[i];
    f->count[MARKS] += 10 * (l->impacts + 2 * l->accumulations + 3 * l->switches + 5 * l->undecided +
                             7 * l->sleep.falls + 11 * l->sleep.wakes + 13 * c->accepted);
    f->count[MARKS] += 10 * (17 * c->newton_many + 19 * c->newton_max + 23 * c->newton_median + 29 * c->missed);
    for (int i = 0; i < warnings; ++i) {
        f->count[MARKS] += 1000 * (list[i].kind[0] + 2 * list[i].kind[2]) + 100 * list[i].id;
        if (!isnan(list[i].t)) f->real[BOOKS] += weight(i) * list[i].t;
    }
}

static void close_books(figures *f, carom_sim *sim) {
    carom_error err = {0};
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const double energy[] = {l.energy.impact,
                             l.energy.friction,
                             l.energy.external,
                             l.energy.damping,
                             l.energy.lost,
                             l.energy.created,
                             100 * l.penetration,
                             100 * l.drift,
                             l.kinetic,
                             l.gap,
                             l.penetration > 1e-9 ? l.penetration_t : 0,
                             l.drift > 1e-9 ? l.drift_t : 0,
                             l.impulses.gain,
                             l.impulses.gain > 1e-9 ? l.impulses.gain_t : 0,
                             l.moved};
    add(&f->real[ENERGY], energy, sizeof energy / sizeof *energy, 0);
    close_other_books(f, sim, &l);
    char said[2000] = "";
    carom_sim_choice(sim, said, sizeof said);
    for (const char *c = said; *c; ++c) f->count[HAPPENED] += *c == ';' || *c == ',';
    f->count[STEPS] = l.steps + l.rejected;
    f->count[PROBLEMS] = l.counts.problems;
    f->count[ITERATIONS] = l.counts.iterations;
    f->count[NEWTON] = l.counts.newton;
    f->count[FALLBACKS] = l.counts.fallbacks;
    f->count[INNER] = l.counts.substeps + l.counts.substeps_rejected;
}

enum { MOST = 100 }; // steps

/// How a model is run.  Unwatched: only the end is looked at, and steps that nothing touches may take a shorter way.
/// Blind: the system knows neither bounds of its gaps nor where functions of time are even.  Long: steps of LONGER
/// steps, in which more happens.
typedef enum manner { WATCHED, UNWATCHED, BLIND, LONG } manner;
enum { LONGER = 7 };

/// Options: words with spaces between.
static figures simulate(const carom_model *m, const example *e, const char *scheme, const char *options, manner how) {
    static const char *const manners[] = {"", " unwatched", " blind", " long"};
    const bool unwatched = how == UNWATCHED;
    figures f = {.failed = true};
    snprintf(f.key, sizeof f.key, "%s %s%s%s%s", e->name, scheme, *options ? " " : "", options, manners[how]);
    carom_error err = {0};
    char words[100];
    const char *list[8] = {0};
    snprintf(words, sizeof words, "%s", options);
    int n = 0;
    for (char *w = strtok(words, " "); w && n < 7; w = strtok(NULL, " ")) list[n++] = w;
    carom_sim_def d = carom_sim_default();
    carom_system sys = counted(carom_model_system(m));
    carom_extensions own;
    carom_system_extend(&sys, &own);
    if (how == BLIND) own.events.gap_bounds = NULL, own.events.limit_step = NULL;
    d.system = &sys, d.schemes = carom_schemes(), d.scheme = scheme;
    d.options = ignoring_impacts(scheme, d.system, list);
    d.h = how == LONG ? LONGER * e->h : e->h, d.t_end = (how == LONG ? e->steps / LONGER : e->steps) * d.h;
    double v[240];
    for (int i = 0; i < d.system->nv; ++i) v[i] = carom_model_v0(m)[i] * (1 + (i % 2 ? nudge : -nudge));
    d.q0 = carom_model_q0(m), d.v0 = v;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) return f; // it does not support something
    if (!unwatched) watch(sim, &f);
    carom_status status = unwatched ? carom_sim_run(sim, NULL, NULL, &err) : CAROM_OK;
    for (int k = 0; k < MOST && status == CAROM_OK && !carom_sim_done(sim); ++k) {
        status = carom_sim_step(sim, &err);
        const carom_now now = carom_sim_now(sim);
        if (status == CAROM_OK) look(&f, &now, carom_sim_system(sim));
    }
    f.failed = status != CAROM_OK;
    if (unwatched)
        add(&f.real[MOTION], carom_sim_now(sim).q, d.system->nq, 0),
            add(&f.real[MOTION], carom_sim_now(sim).v, d.system->nv, 1);
    f.count[CALLS] = counted_calls;
    close_books(&f, sim);
    carom_sim_destroy(sim);
    return f;
}

// Another value of option o, the i-th; false after the last.
static bool other_value(const carom_option *o, int i, char *text, size_t size) {
    char word[40];
    double x = i;
    if (o->kind == CAROM_CHOICE) {
        const char *at = o->choices;
        for (int k = 0; k < i && at; ++k) at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
        if (!at) return false;
    } else if (o->kind == CAROM_INTEGER) {
        x = o->low + i;
        if (i == 7 && o->choices) x = o->high + 1; // the first of the words
        else if (o->high > 100 ? i > 0 : i > 6 || x > o->high) return false;
        if (o->high > 100) x = 3; // events or internal steps before a step is refused
    } else {
        x = o->low + 0.3 * (o->high - o->low);
        if (o->high > 10 || strstr(o->name, "tol")) x = o->fallback > 0 ? 30 * o->fallback : 0.02;
        if (i > 0) return false;
    }
    carom_option_write(o, x, word, sizeof word);
    if (x == o->fallback) word[0] = 0;
    snprintf(text, size, "%s=%s", o->name, word);
    return true;
}

// -- solvers ----------------------------------------------------------------------------------------------------------

// G by blocks, all of them.
typedef struct blocks {
    carom_block_rows rows;
    int *start, *col, *at, *diagonal;
    double *value;
} blocks;

static blocks blocks_of(const contact_problem *x) {
    const int nb = x->pb.nb;
    blocks b = {.start = calloc((size_t)nb + 1, sizeof(int)),
                .col = calloc((size_t)nb * nb, sizeof(int)),
                .at = calloc((size_t)nb * nb, sizeof(int)),
                .diagonal = calloc((size_t)nb, sizeof(int)),
                .value = calloc((size_t)x->pb.n * x->pb.n, sizeof(double))};
    int k = 0, at = 0;
    for (int i = 0; i < nb; ++i)
        for (int j = 0; j < nb; b.start[i + 1] = k, ++j) {
            const int m = carom_law_rows(x->block[i].law), n = carom_law_rows(x->block[j].law);
            double sum = 0;
            for (int r = 0; r < m * n; ++r)
                sum += fabs(b.value[at + r] = PROBLEM_G(x, x->block[i].at + r % m, x->block[j].at + r / m));
            if (sum == 0 && i != j) continue;
            if (i == j) b.diagonal[i] = k;
            b.col[k] = j, b.at[k++] = at, at += m * n;
        }
    int uniform = carom_law_rows(x->block[0].law);
    for (int i = 0; i < nb; ++i)
        if (carom_law_rows(x->block[i].law) != uniform) uniform = 0;
    b.rows = (carom_block_rows){
        .start = b.start, .col = b.col, .at = b.at, .diagonal = b.diagonal, .value = b.value, .uniform = uniform};
    return b;
}

static void blocks_free(blocks *b) {
    free(b->start), free(b->col), free(b->at), free(b->diagonal), free(b->value);
}

// G by bodies, of a pile with directions W and inverse masses w.
typedef struct by_bodies {
    carom_parts parts;
    int *part, *first, *link; // of each link its body
    size_t *link_at, *inverse_at;
    double *A, *inverse;
} by_bodies;

static bool acts_on(const contact_problem *x, const double *W, int dof, int each, int contact, int body) {
    for (int r = 0; r < carom_law_rows(x->block[contact].law); ++r)
        for (int i = 0; i < each; ++i)
            if (W[(size_t)(x->block[contact].at + r) * dof + body * each + i] != 0) return true;
    return false;
}

static by_bodies bodies_of(const contact_problem *x, int bodies, int each, const double *W, const double *w) {
    const int nb = x->pb.nb, dof = each * bodies;
    by_bodies y = {.part = calloc((size_t)bodies + 1, sizeof(int)),
                   .first = calloc((size_t)nb + 1, sizeof(int)),
                   .link = calloc(2 * (size_t)nb, sizeof(int)),
                   .link_at = calloc(2 * (size_t)nb, sizeof(size_t)),
                   .inverse_at = calloc((size_t)bodies, sizeof(size_t)),
                   .A = calloc((size_t)x->pb.n * 2 * each, sizeof(double)),
                   .inverse = calloc((size_t)bodies * each * each, sizeof(double))};
    for (int k = 0; k < bodies; ++k) {
        y.part[k + 1] = each * (k + 1);
        y.inverse_at[k] = (size_t)k * each * each;
        // scale is 2
        for (int i = 0; i < each; ++i) y.inverse[y.inverse_at[k] + (size_t)(i * each + i)] = w[k * each + i] / 2;
    }
    int n = 0;
    size_t at = 0;
    for (int b = 0; b < nb; y.first[++b] = n)
        for (int k = 0; k < bodies; ++k) {
            if (!acts_on(x, W, dof, each, b, k)) continue;
            y.link[n] = k, y.link_at[n++] = at;
            for (int r = 0; r < carom_law_rows(x->block[b].law); ++r)
                for (int i = 0; i < each; ++i) y.A[at++] = W[(size_t)(x->block[b].at + r) * dof + k * each + i];
        }
    y.parts = (carom_parts){.bodies = bodies,
                            .part = y.part,
                            .first = y.first,
                            .link_part = y.link,
                            .link_body = y.link,
                            .link_at = y.link_at,
                            .inverse_at = y.inverse_at,
                            .A = y.A,
                            .inverse = y.inverse,
                            .scale = 2};
    return y;
}

static void bodies_free(by_bodies *y) {
    free(y->part), free(y->first), free(y->link), free(y->link_at), free(y->inverse_at), free(y->A), free(y->inverse);
}

// of G; by bodies, with three threads; the chain begins with prox
typedef enum form { DENSE, BLOCKS, BODIES, TEAM, AFTER_PROX, FORMS } form;

static carom_team *three_threads;

typedef struct task {
    const char *name;
    int contacts, bodies; // bodies 0: a random matrix
    carom_law law;
    double mu;
    uint64_t seed;
} task;

static const task tasks[] = {
    {"alone", 1, 0, CAROM_SPATIAL, 0.3, 977},   {"pair", 2, 2, CAROM_UNILATERAL, 0, 11},
    {"smooth", 8, 8, CAROM_UNILATERAL, 0, 5},   {"dependent", 8, 2, CAROM_UNILATERAL, 0, 7},
    {"planar", 4, 4, CAROM_PLANAR, 0.3, 4242},  {"loaded", 6, 2, CAROM_PLANAR, 0.4, 4243},
    {"mixed", 7, 0, (carom_law)-1, 0.3, 5},     {"spatial", 5, 5, CAROM_SPATIAL, 0.3, 31},
    {"rough", 4, 3, CAROM_SPATIAL, 1.5, 33},    {"spinning", 4, 4, CAROM_BALL_3, 0.3, 35},
    {"rolling", 4, 4, CAROM_BALL_5, 0.2, 37},   {"pile", 32, 16, CAROM_SPATIAL, 0.3, 41},
    {"sheet", 50, 30, CAROM_PLANAR, 0.5, 43},   {"tower", 90, 60, CAROM_UNILATERAL, 0, 47},
    {"joints", 6, 0, CAROM_BILATERAL, 0, 49},   {"web", 60, 12, CAROM_PLANAR, 0.3, 53},
    {"ties", 8, 2, CAROM_BILATERAL, 0, 57},     {"coupled", 24, 0, CAROM_PLANAR, 0.4, 59},
    {"jammed", 30, 6, CAROM_SPATIAL, 0.5, 61},  {"crushed", 24, 4, CAROM_PLANAR, 0.8, 63},
    {"grown", 40, 14, CAROM_SPATIAL, 0.5, 67},  {"throng", 60, 60, CAROM_PLANAR, 0.4, 73},
    {"knot", 150, 50, CAROM_UNILATERAL, 0, 79}, {"hopeless", 6, 0, CAROM_PLANAR, 0.3, 89},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

// Several solutions, with other velocities; constraints that depend on each other.
static bool several(const task *t) { return strstr("loaded jammed crushed grown", t->name) != NULL; }
static bool dependent(const task *t) { return strstr("ties jammed crushed grown", t->name) != NULL; }

// A problem with its matrix in one of the forms.
typedef struct given {
    contact_problem x;
    blocks b;
    by_bodies y;
} given;

// No impulse moves the second contact, which approaches: there is no solution.
static void make_hopeless(contact_problem *x) {
    for (int r = 0; r < carom_law_rows(x->block[1].law); ++r)
        for (int i = 0, k = x->block[1].at + r; i < x->pb.n; ++i) PROBLEM_G(x, i, k) = PROBLEM_G(x, k, i) = 0;
    x->c[x->block[1].at] = -0.5;
}

static given problem_of(const task *t) {
    given g = {0};
    double *W = NULL, *w = NULL;
    g.x = t->bodies ? problem_pile_of(t->contacts, t->bodies, t->law, t->mu, t->seed, &W, &w)
                    : problem_random(t->contacts, (int)t->law, t->mu, 0.3, t->seed);
    if (strcmp(t->name, "hopeless") == 0) make_hopeless(&g.x);
    g.b = blocks_of(&g.x);
    if (W) g.y = bodies_of(&g.x, t->bodies, t->law >= CAROM_SPATIAL ? 6 : 3, W, w);
    g.x.pb.symmetric = true;
    for (int i = 0; i < g.x.pb.n; ++i) g.x.c[i] *= 1 + (i % 2 ? nudge : -nudge);
    free(W), free(w);
    return g;
}

// Where it stays.
static carom_problem *view(given *g, form f) {
    if (f == BLOCKS || f == BODIES || f == TEAM) g->x.pb.rows = &g->b.rows, g->x.pb.G = NULL;
    if (f == BODIES || f == TEAM) g->x.pb.parts = &g->y.parts;
    if (f == TEAM) g->x.pb.team = three_threads;
    return &g->x.pb;
}

static void given_free(given *g) {
    blocks_free(&g->b);
    bodies_free(&g->y);
    problem_destroy(&g->x);
}

static void solved(figures *f, const contact_problem *x, carom_report r) {
    add(&f->real[MOTION], x->u, x->pb.n, 0);
    if (r.converged) add(&f->real[REACTIONS], x->p, x->pb.n, 0);
    f->count[ITERATIONS] += r.iterations;
    f->count[FALLBACKS] += r.fallbacks;
    f->count[MARKS] += (r.converged ? r.worst_block >= 0 : 10 + r.worst_block) +
                       100 * (r.solver[0] + 2 * r.solver[strlen(r.solver) - 1]);
    f->real[BOOKS] += r.converged ? r.residual <= 1e-6 : r.residual;
    f->failed |= !r.converged;
}

// That dependent constraints do not contradict.
static double change_of(const contact_problem *x, int i) {
    double sum = 0;
    for (int j = 0; j < x->pb.n; ++j) sum += PROBLEM_G(x, i, j) * sin(j);
    return 0.02 * sum;
}

static const double TIGHT = 1e-11, LOOSE = 1e-3; // as small models and as large worlds want it

// From zero, then from that answer for a problem that is a little different.  s NULL: the chain.
static figures solve(const task *t, const carom_solver *s, form form, double tol) {
    static const char *const forms[FORMS] = {"", " blocks", " bodies", " team", " after prox"};
    figures f = {0};
    snprintf(f.key, sizeof f.key, "problem %s %s%s%s", t->name, s ? s->name : "chain", forms[form],
             tol == LOOSE ? " loose" : "");
    given g = problem_of(t);
    carom_problem *pb = view(&g, form);
    solver_memory m = s ? memory_for_solver(s, pb->n, pb->nb)
                        : memory_for_chain(form == AFTER_PROX ? carom_solver_find("prox") : NULL, pb->n, pb->nb);
    for (int warm = 0; warm < 2; ++warm) {
        solved(&f, &g.x, s ? carom_solver_solve(s, m.work, pb, tol) : carom_chain_solve(m.chain, pb, tol));
        for (int i = 0; i < pb->n; ++i) g.x.c[i] += dependent(t) ? change_of(&g.x, i) : 0.02 * sin(i);
    }
    memory_free(&m);
    given_free(&g);
    return f;
}

// Slow ones are left out where there are many contacts.
static bool suits(const carom_solver *s, const task *t, form f) {
    if ((f == BODIES || f == TEAM) && (t->bodies == 0 || (s && !s->parts))) return false;
    if (!s) return f != AFTER_PROX || strcmp(t->name, "sheet") == 0;
    if (f == AFTER_PROX) return false;
    given g = problem_of(t);
    const bool fits =
        carom_solver_fits(s, view(&g, f)) && (g.x.pb.n < 50 || !BRIEF) &&
        (g.x.pb.n < 80 || (s->max_blocks == 0 && strcmp(s->name, "prox") != 0 && strcmp(s->name, "gauss-seidel") != 0));
    given_free(&g);
    return fits;
}

// Impacts by energy with a number of tangents, from random matrices and velocities; some of them stick from the start.
static figures strike(int tangents) {
    figures f = {0};
    snprintf(f.key, sizeof f.key, "problem energetic %d", tangents);
    for (uint64_t k = 1; k <= 40; ++k) {
        uint64_t seed = 100 * k + (uint64_t)tangents;
        contact_problem x = problem_random(1, CAROM_UNILATERAL + tangents, 1.2 * uniform(&seed), 0.05, 7 * k);
        double u[1 + CAROM_TANGENTS] = {-0.1 - uniform(&seed)};
        for (int i = 1; i <= tangents; ++i)
            u[i] = k % 4 == 0 ? 0 : symmetric_uniform(&seed) * (1 + (i % 2 ? nudge : -nudge));
        f.failed |= !carom_energetic_impact(x.pb.G, x.pb.ld, tangents, k % 8 == 7 ? 0 : x.pb.block[0].mu,
                                            uniform(&seed), u, x.p);
        add(&f.real[REACTIONS], x.p, 1 + tangents, (long)k);
        f.count[ITERATIONS] += 1;
        problem_destroy(&x);
    }
    return f;
}

// -- the table --------------------------------------------------------------------------------------------------------

static bool printing, widening;
static char *table; // of the file
static int bad, lines;

// Relative to it.
static double differs(double a, double b) {
    const double d = fabs(a - b) / (fabs(b) + 0.01);
    return d >= 0 ? d : a == b || (isnan(a) && isnan(b)) ? 0 : INFINITY;
}

// By how much each may differ: sums relative to themselves.
typedef struct slack {
    double real[REALS]; // 0: not compared
    long count[COUNTS];
} slack;

static bool within(const figures *a, const figures *b, const slack *s) {
    bool same = a->failed == b->failed;
    for (int i = 0; i < REALS; ++i) same &= s->real[i] == 0 || differs(a->real[i], b->real[i]) <= s->real[i];
    for (int i = 0; i < COUNTS; ++i) same &= labs(a->count[i] - b->count[i]) <= s->count[i];
    return same;
}

static void print(const figures *f, const slack *s) {
    printf("%s:%s", f->key, f->failed ? " failed" : "");
    for (int i = 0; i < REALS; ++i) {
        if (s && s->real[i] == 0) printf(" ~");
        else printf(" %.11g", f->real[i]);
        if (s && s->real[i] > 1e-9) printf("~%.0e", s->real[i]);
    }
    for (int i = 0; i < COUNTS; ++i) {
        printf(" %ld", f->count[i]);
        if (s && s->count[i] > 0) printf("~%ld", s->count[i]);
    }
    printf("\n");
}

// A line of the table behind its key.
static figures read_figures(const char *line, slack *s) {
    figures x = {.failed = strncmp(line, "failed ", 7) == 0};
    char *at = (char *)line + (x.failed ? 7 : 0);
    *s = (slack){0};
    for (int i = 0; i < REALS; ++i, ++at) {
        if (*at == '~') {
            ++at;
            continue;
        }
        x.real[i] = strtod(at, &at);
        s->real[i] = *at == '~' ? strtod(at + 1, &at) : 1e-9;
    }
    for (int i = 0; i < COUNTS; ++i) {
        x.count[i] = strtol(at, &at, 10);
        if (*at == '~') s->count[i] = strtol(at + 1, &at, 10);
    }
    return x;
}

static bool same(const figures *f, const char *line) {
    slack s;
    const figures x = read_figures(line, &s);
    if (within(f, &x, &s)) return true;
    print_error("%.*s\n", (int)(strcspn(line, "\n")), line);
    print(f, NULL);
    return false;
}

// Twice the way from the table to f, where that is more: another processor has other last bits.
static void widen(slack *s, const figures *x, const figures *f) {
    for (int i = 0; i < REALS; ++i) {
        const double d = differs(f->real[i], x->real[i]);
        if (s->real[i] > 0 && d > s->real[i]) s->real[i] = 2 * d < 0.1 ? 2 * d : 0;
    }
    for (int i = 0; i < COUNTS; ++i) {
        const long d = labs(f->count[i] - x->count[i]);
        if (d > s->count[i]) s->count[i] = 2 * d;
    }
}

static void done(void) {
    if (bad)
        fail_msg("%d of %d lines differ from test/figures.txt; where that is meant: build/test/test_figures print "
                 ">figures.new && mv figures.new test/figures.txt",
                 bad, lines);
}

// -- parts ------------------------------------------------------------------------------------------------------------

enum { PARTS = 4 };
static int part = -1; // from 0; -1: all

// Whether model i, or problem i, belongs to the part; i -1: a line that is nobody's belongs to each, where it is
// missed.
static bool ours(int i) { return part < 0 || i < 0 || i / 3 % PARTS == part; }

// Of the model, or of the problem, to which a line of the table belongs; impacts by energy stand behind the problems.
static int place_of(const char *line) {
    char first[20] = "", second[20] = "";
    sscanf(line, "%19[^ :] %19[^ :]", first, second);
    for (int i = 0; i < EXAMPLES; ++i)
        if (strcmp(first, examples[i].name) == 0) return i;
    for (int i = 0; i < TASKS; ++i)
        if (strcmp(first, "problem") == 0 && strcmp(second, tasks[i].name) == 0) return i;
    return strcmp(second, "energetic") == 0 ? TASKS : -1;
}

// Lines of the table that the part has to compute.  The first line of the file is a title.
static int rows_of_table(void) {
    int rows = 0;
    for (const char *c = strchr(table, '\n'); c && c[1]; c = strchr(c + 1, '\n')) rows += ours(place_of(c + 1));
    return rows;
}

// What is computed, for one line of the table.
typedef struct computation {
    const carom_model *model; // NULL: a contact problem
    const example *example;
    const char *scheme, *options;
    manner how;
    const task *task;
    const carom_solver *solver;
    form form;
    double tol;
    int tangents; // without model and task: of impacts by energy
} computation;

static figures compute(const computation *c, double change) {
    nudge = change;
    return c->model   ? simulate(c->model, c->example, c->scheme, c->options, c->how)
           : !c->task ? strike(c->tangents)
                      : solve(c->task, c->solver, c->form, c->tol);
}

static long largest(long a, long b) { return a > b ? a : b; }

// By runs from velocities that are a little different.
static slack slack_of(const computation *c, const figures *f) {
    static const double change[] = {3e-16, -3e-16, 3e-13, -3e-13};
    slack s = {0};
    for (int k = 0; k < 4; ++k) {
        const figures x = compute(c, change[k]);
        for (int i = 0; i < REALS && k < 2; ++i)
            s.real[i] = fmax(s.real[i], x.failed == f->failed ? 100 * differs(x.real[i], f->real[i]) : INFINITY);
        for (int i = 0; i < COUNTS; ++i) {
            const long seen = 4 * labs(x.count[i] - f->count[i]), most = 2 + labs(f->count[i]) / 20;
            s.count[i] = largest(s.count[i], seen < most ? seen : most);
        }
    }
    for (int i = 0; i < REALS; ++i) s.real[i] = s.real[i] < 0.1 ? fmax(s.real[i], 1e-9) : 0;
    return s;
}

// The figures.
static figures compare(computation c) {
    const figures f = compute(&c, 0);
    if (f.failed && f.count[STEPS] + f.count[ITERATIONS] == 0) return f; // declined
    char key[130];
    snprintf(key, sizeof key, "\n%s: ", f.key);
    const char *line = strstr(table, key);
    slack before = {0};
    figures x = line ? read_figures(line + strlen(key), &before) : f;
    memcpy(x.key, f.key, sizeof x.key);
    if (printing) {
        slack s = slack_of(&c, &f);
        // what another processor needed stays
        for (int i = 0; i < REALS && line; ++i)
            s.real[i] = before.real[i] > 0 && s.real[i] > 0 ? fmax(s.real[i], before.real[i]) : 0;
        for (int i = 0; i < COUNTS && line; ++i) s.count[i] = largest(s.count[i], before.count[i]);
        if (s.real[MOTION] > 0 || s.real[REACTIONS] > 0) print(&f, &s);
        return f;
    }
    if (!line) return f; // rounding decides
    if (widening) {
        widen(&before, &x, &f);
        if (x.failed == f.failed) print(&x, &before);
        return f;
    }
    ++lines;
    bad += !same(&f, line + strlen(key));
    if (bad && getenv("CAROM_TEST_FIRST")) done(); // tools/mutate.py asks no more
    return f;
}

// -- tests ------------------------------------------------------------------------------------------------------------

// Schemes of high order between events, which account the work of forces along their stages.
static bool locates(const carom_scheme *s) { return s->accounts_power; }

// Runs that take long: many events or internal steps; and models for schemes that locate events.
static bool slow(const char *model, const carom_scheme *s) {
    const bool costly = s->full_levels;
    if (strcmp(model, "slit") == 0) return !s->emits_events || s->controls_own_steps;
    if (strstr("bumper sliding-table bumps", model))
        return !locates(s) || (s == &carom_scheme_event_driven && strcmp(model, "sliding-table") == 0);
    if (strstr("slot crowd flurry hardening parade mesh", model)) return !s->worlds;
    if (strstr("dozing gravel harness", model) && s->controls_own_steps) return true;
    if (strcmp(model, "vanishing") == 0) return s == &carom_scheme_event_driven; // ever shorter steps
    if (BRIEF && strstr("brick linkage heap", model) && (s->controls_own_steps || costly)) return true;
    return s->controls_own_steps &&
           (strcmp(model, "heap") == 0 || (strcmp(model, "stiff") == 0 && !s->worlds));
}

static void every_scheme_on_every_model(void **state) {
    (void)state;
    for (int i = 0; i < EXAMPLES; ++i) {
        const example *e = &examples[i];
        if (!ours(i)) continue;
        carom_model *m = good(e->text);
        figures all[40];
        int n = 0;
        for (const carom_scheme *const *s = carom_schemes(); *s && n < 40; ++s)
            if (!slow(e->name, *s) && !((*s)->limitations & CAROM_NO_IMPACTS) &&
                !(BRIEF && *s != &carom_scheme_event_driven && (i + (s - carom_schemes())) % 2)) // half of them each
                all[n++] = compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = ""});
        const double exact = n > 0 ? all[n - 1].real[MOTION] : 0; // event-driven is the last, where it is not slow
        for (int k = 0; k < n && e->agree > 0 && !printing && !slow(e->name, &carom_scheme_event_driven); ++k)
            if (!all[k].failed && !(fabs(all[k].real[MOTION] - exact) <= e->agree * fabs(exact)))
                fail_msg("%s: %g, by event-driven %g", all[k].key, all[k].real[MOTION], exact);
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
            if ((*s)->promises.gaps == CAROM_AT_MIDDLE && !slow(e->name, *s))
                compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = "", .how = UNWATCHED});
        for (const carom_scheme *const *s = carom_schemes(); *s && !BRIEF; ++s) {
            if (!locates(*s) || slow(e->name, *s)) continue;
            if (carom_model_system(m)->events->gap_bounds && !strstr("bearing shaken slit flurry", e->name))
                compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = "", .how = BLIND});
            if (!(*s)->controls_own_steps && !strstr("stiff slit", e->name))
                compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = "", .how = LONG});
        }
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) // those that know no impacts agree with nobody
            if ((*s)->limitations & CAROM_NO_IMPACTS && !slow(e->name, *s))
                compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = ""});
        carom_model_destroy(m);
    }
    done();
}

// Every option of every scheme, each with other values, on models that have joints, friction, impacts and rotations.
static void every_option_of_every_scheme(void **state) {
    (void)state;
    for (int i = 0; i < EXAMPLES; ++i) {
        if (!ours(i) ||
            !strstr(BRIEF ? "settling" : "settling thrown tipping linkage bar top tilting medley conveyor gravel",
                    examples[i].name))
            continue;
        carom_model *m = good(examples[i].text);
        char option[100];
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            if (strcmp(examples[i].name, "gravel") == 0) { // as worlds of many bodies are run
                if (!(*s)->controls_own_steps)
                    compare((computation){
                        .model = m, .example = &examples[i], .scheme = (*s)->name, .options = "tol=1e-3"});
                continue;
            }
            if (strcmp(examples[i].name, "top") == 0 && (!(*s)->emits_events || (*s)->controls_own_steps))
                continue; // rotations
            // some hundred internal steps in each
            if (strcmp(examples[i].name, "linkage") == 0 && ((*s)->controls_own_steps || (*s)->promises.slow_piles))
                continue;
            for (const carom_option *o = (*s)->options; o && o->name; ++o)
                for (int k = 0; other_value(o, k, option, sizeof option); ++k) {
                    if (option[strlen(option) - 1] == '=') continue; // the default
                    compare(
                        (computation){.model = m, .example = &examples[i], .scheme = (*s)->name, .options = option});
                }
            static const char *const common[] = {"closed=strict", "adaptive=on rtol=0.01 atol=0.01",
                                                 "adaptive=on rtol=0.02 atol=0.02 extrapolate=on estimate=1"};
            for (int k = 0; k < 3; ++k)
                compare((computation){.model = m, .example = &examples[i], .scheme = (*s)->name, .options = common[k]});
        }
        carom_model_destroy(m);
    }
    done();
}

static void every_solver_on_every_problem(void **state) {
    (void)state;
    for (int i = 0; i < TASKS; ++i) {
        if (!ours(i)) continue;
        const double answer = solve(&tasks[i], NULL, DENSE, TIGHT).real[MOTION];
        for (form f = DENSE; f < FORMS; ++f) {
            const carom_solver *s = NULL;
            for (int k = -1; k < 0 || (s = carom_solver_at(k)); ++k) {
                if (!suits(s, &tasks[i], f)) continue;
                if (!s || s->sparse) compare((computation){.task = &tasks[i], .solver = s, .form = f, .tol = LOOSE});
                const figures x = compare((computation){.task = &tasks[i], .solver = s, .form = f, .tol = TIGHT});
                if (!x.failed && !several(&tasks[i]) && !printing && !widening &&
                    !(fabs(x.real[MOTION] - answer) <= 1e-7 * (1 + fabs(answer))))
                    fail_msg("%s: velocities %.12g, by others %.12g", x.key, x.real[MOTION], answer);
            }
        }
    }
    for (int tangents = 0; ours(TASKS) && tangents <= CAROM_TANGENTS; ++tangents)
        compare((computation){.tangents = tangents});
    done();
}

int main(int argc, char **argv) {
    printing = argc > 1 && strcmp(argv[1], "print") == 0;
    widening = argc > 1 && strcmp(argv[1], "widen") == 0;
    const bool writing = printing || widening;
    if (argc > 1 && !writing) part = atoi(argv[1]) - 1;
    if (argc > 2 || part < -1 || part >= PARTS || (argc > 1 && !writing && part < 0))
        return fprintf(stderr, "test_figures [print | widen | 1 .. %d]\n", PARTS), 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_on_every_model),
        cmocka_unit_test(every_option_of_every_scheme),
        cmocka_unit_test(every_solver_on_every_problem),
    };
    carom_error err = {0};
    three_threads = carom_team_create(3, &err);
    if (!three_threads) return fprintf(stderr, "%s\n", err.text), 1;
    table = calloc(1, 1 << 20);
    FILE *f = fopen(CAROM_SOURCE_DIR "/test/figures.txt", "r");
    if (!table || (!f && !printing) || (f && fread(table, 1, (1 << 20) - 1, f) == 0 && !printing)) return 1;
    if (f) fclose(f);
    if (writing) {
        printf("Figures of test_figures.c, see there.\n");
        every_scheme_on_every_model(NULL), every_option_of_every_scheme(NULL), every_solver_on_every_problem(NULL);
        free(table);
        carom_team_destroy(three_threads);
        return 0;
    }
    const int status = cmocka_run_group_tests_name("figures", tests, NULL, NULL);
    const int rows = rows_of_table();
    const bool whole = BRIEF ? lines >= rows / 10 : lines == rows; // with sanitizers most options are left out
    if (!status && !whole)
        fprintf(stderr,
                "test/figures.txt has %d lines of this part, of which %d were computed: what is declined now was not "
                "before\n",
                rows, lines);
    free(table);
    carom_team_destroy(three_threads);
    return status || !whole;
}
