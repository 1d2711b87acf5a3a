// resolve.c: what is given comes before the model's `simulation` section; that before the defaults.
//
// Options of the file's scheme do not count with another one; those of the solvers (solver, tol, accept, newton-tol)
// do, unless one of the two schemes has an option with that name of its own.
#include "base/missing.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "model/answers.h"
#include "scheme/advice.h"
#include <carom/event.h>
#include <carom/run.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000 }; // of a run whose step is not given

carom_run_given carom_run_nothing(void) { return (carom_run_given){.step = NAN, .end = NAN, .rtol = NAN, .atol = NAN}; }

static bool switched_on(const char *const *options) {
    for (int i = 0; i < carom_list_length(options); ++i)
        if (strcmp(options[i], "adaptive=on") == 0) return true;
    return false;
}

// Does an option of the file belong to this run?  `own`: the file's scheme, NULL: unknown; `table`: the scheme of the
// run.
static bool belongs(const char *option, const carom_scheme *own, const carom_scheme *table) {
    static const char *const solvers[] = {"solver", "tol", "accept", "newton-tol"};
    const size_t length = strcspn(option, "=");
    if (own && carom_option_find(own->options, option, length) >= 0) return false;
    if (table && carom_option_find(table->options, option, length) >= 0) return false;
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; ++i)
        if (strlen(solvers[i]) == length && strncmp(option, solvers[i], length) == 0) return true;
    return false;
}

// Options of the file, then tolerances, then those that are given.  A scheme with an rtol of its own controls its steps
// itself: `adaptive` has nothing to add there, unless the scheme has an option of that name, without which its
// tolerances do nothing.
static carom_status gather(carom_run *run, const carom_model_run *model, bool other, const carom_run_given *given,
                           carom_error *err) {
    enum { ROOM = 48 };
    const bool own = run->table && carom_option_find(run->table->options, "rtol", 4) >= 0,
               always = own && carom_option_find(run->table->options, "adaptive", 8) < 0;
    const char *const *file = model->options;
    const carom_scheme *scheme = other ? carom_schemes_find(model->scheme) : NULL;
    const bool adaptive = given->adaptive || (!other && switched_on(file)) || switched_on(given->options);
    const int n = carom_list_length(file) + carom_list_length(given->options);
    const struct { const char *name; double x; } tolerance[] = {{"rtol", given->rtol}, {"atol", given->atol}};
    run->options = calloc((size_t)n + 4, sizeof *run->options);
    run->own = calloc(2, ROOM);
    if (!run->options || !run->own) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a run");
    int k = 0;
    for (int i = 0; i < carom_list_length(file); ++i)
        if (!other || belongs(file[i], scheme, run->table)) run->options[k++] = file[i];
    if (given->adaptive && !always) run->options[k++] = "adaptive=on";
    for (int i = 0; i < 2; ++i) {
        if (isnan(tolerance[i].x)) continue;
        if (!always && !adaptive)
            return carom_fail(err, CAROM_BAD_INPUT, "`%s` belongs to adaptive steps; add `adaptive`",
                              tolerance[i].name);
        carom_format(run->own + i * ROOM, ROOM, "%s=%.17g", tolerance[i].name, tolerance[i].x);
        run->options[k++] = run->own + i * ROOM;
    }
    for (int i = 0; i < carom_list_length(given->options); ++i) run->options[k++] = given->options[i];
    return CAROM_OK;
}

// Does an option, or a tolerance, speak to the scheme itself?
static bool addressed(const carom_run *run, const carom_run_given *given) {
    if (given->adaptive || !isnan(given->rtol) || !isnan(given->atol)) return true;
    for (int i = 0; i < carom_list_length((const char *const *)run->options); ++i)
        if (carom_option_find(run->table->options, run->options[i], strcspn(run->options[i], "=")) >= 0) return true;
    return false;
}

// A world is not located event by event: the scheme leaves it to the cheapest one that keeps piles standing, with a
// step by (WLD-1) unless one is given.  Not so where an option or a tolerance is meant for the scheme itself.
static void step_through_world(carom_run *run, const carom_model *m, const carom_run_given *given) {
    carom_world w;
    const carom_scheme *stepping = run->table ? run->table->worlds : NULL;
    if (!m || !stepping || addressed(run, given) || !carom_model_world(m, &w)) return;
    carom_format(run->chosen, sizeof run->chosen,
                 "by %s: %d bodies may hit each other%s; with a tolerance (rtol) %s locates every impact", run->scheme,
                 w.bodies, isnan(run->step) ? ", the step follows from their widths and speeds" : "", run->scheme);
    run->scheme = stepping->name;
    run->table = stepping;
    if (isnan(run->step)) run->step = isnan(run->end) ? w.step : fmin(w.step, run->end / ROWS);
}

carom_status carom_run_resolve(carom_run *run, const carom_model *m, const carom_run_given *given, carom_error *err) {
    if (!run || !given) return CAROM_MISSING(err);
    const carom_model_run file = m ? carom_model_simulation(m) : (carom_model_run){.step = NAN, .end = NAN};
    *run = (carom_run){.scheme = given->scheme, .step = given->step, .end = given->end};
    if (!run->scheme) run->scheme = file.scheme;
    if (!run->scheme)
        run->scheme = carom_schemes_find(CAROM_DEFAULT_SCHEME) ? CAROM_DEFAULT_SCHEME : carom_sim_default().scheme;
    run->table = carom_schemes_find(run->scheme);
    if (isnan(run->step)) run->step = file.step;
    if (isnan(run->end)) run->end = file.end;
    const bool other = file.scheme && given->scheme && strcmp(file.scheme, given->scheme) != 0;
    run->from_file = file.scheme && !other;
    CAROM_TRY(gather(run, &file, other, given, err));
    step_through_world(run, m, given);
    if (isnan(run->end))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the end time is missing; give `end`, or `end:` in the model's simulation section");
    if (given->adaptive && isnan(run->step)) run->step = 1e-3 * run->end; // the first to try
    if (run->table && run->table->controls_own_steps && isnan(run->step))
        // between rows nothing depends on the end, so a run to a later end has the same
        run->step = given->interval > 0 ? given->interval : run->end / ROWS;
    if (isnan(run->step))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the step size is missing; give `step`, or `step:` in the model's simulation section");
    // located schemes take some ten steps between two records
    run->evaluations = run->end / run->step * (run->table && run->table->controls_own_steps ? 20 : 2);
    return CAROM_OK;
}

void carom_run_free(carom_run *run) {
    if (!run) return;
    free(run->options);
    free(run->own);
    *run = (carom_run){0};
}

static const char *constraint_name(const void *user, long long id) { return carom_model_constraint(user, id); }

static double contact_size(const void *user, long long id) { return carom_model_contact_size(user, id); }

static const char *rate_name(const void *user, int i) {
    const carom_system *sys = carom_model_system(user);
    return sys->nq == sys->nv && !carom_model_state(user, i) ? carom_model_coordinate(user, i)
                                                             : carom_model_velocity(user, i);
}

carom_sim_def carom_run_sim(const carom_run *run, const carom_model *m) {
    if (!run || !m) return (carom_sim_def){0};
    carom_sim_def def = carom_sim_default();
    def.system = carom_model_system(m);
    def.schemes = carom_schemes();
    if (run->scheme) def.scheme = run->scheme;
    def.options = (const char *const *)run->options;
    def.h = run->step;
    def.t_end = run->end;
    def.q0 = carom_model_q0(m);
    def.v0 = carom_model_v0(m);
    def.name = constraint_name;
    def.name_user = m;
    def.rate_name = rate_name;
    def.size = contact_size;
    def.choice = run->chosen[0] ? run->chosen : NULL;
    return def;
}

void carom_run_signals(carom_sim_def *def, const double *left, double *room) {
    if (!def || !room) return;
    const carom_system *s = def->system;
    if (!left || s->signals->ni == 0) return;
    def->input_t = left[s->signals->ni];
    for (int i = 0; i < s->signals->ni; ++i) room[i] = i < s->signals->nset ? s->signals->input[i] : left[i];
    def->input = room;
}
