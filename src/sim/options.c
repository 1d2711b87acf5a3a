// options.c: the scheme of a simulation and its options: those that every scheme has, how they are read, and whether
// the scheme supports what the system needs.
#include "scheme/discs.h"
#include "base/option.h"
#include "scheme/impact.h"
#include "scheme/registry.h"
#include "sim/sim.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const carom_option carom_common_options[] = {
    [CAROM_OPT_CLOSED] = {.name = "closed", .kind = CAROM_CHOICE, .choices = "nonstrict|strict",
     .about = "a contact is closed when g <= 0 (nonstrict) or when g < 0 (strict)"},
    [CAROM_OPT_SOLVER] = {.name = "solver", .kind = CAROM_CHOICE,
     .choices = "auto"
#define CAROM_SOLVER(table, name) "|" name
#include "solver/solvers.def"
#undef CAROM_SOLVER
     ,
     .about = "contact solver to try first; auto chooses by size and kind"},
    [CAROM_OPT_TOL] = {.name = "tol", .kind = CAROM_REAL, .fallback = 1e-8, .low = 1e-16, .high = 1,
     .about = "contact residual allowed, relative to the largest local velocity of the run; unless it is given, "
              "direct solvers continue to 1e-12"},
    [CAROM_OPT_ACCEPT] = {.name = "accept", .kind = CAROM_REAL, .fallback = 1e-8, .low = 0, .high = 1,
     .about = "where no solver does better: residual accepted and counted, relative to the largest local velocity of "
              "the step"},
    [CAROM_OPT_NEWTON_TOL] = {.name = "newton-tol", .kind = CAROM_REAL, .fallback = 1e-12, .low = 1e-16, .high = 1,
     .about = "Newton residual allowed, relative to the terms of the equation"},
    [CAROM_OPT_ADAPTIVE] = {.name = "adaptive", .kind = CAROM_CHOICE, .choices = "off|on",
     .about = "step sizes from error estimates; the step given is the first to try"},
    [CAROM_OPT_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-4, .low = 1e-14, .high = 1,
     .about = "adaptive steps: error allowed in a step, relative to each coordinate and rate"},
    [CAROM_OPT_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 0, .high = 1e6,
     .about = "adaptive steps: absolute tolerance"},
    [CAROM_OPT_ESTIMATE] = {.name = "estimate", .kind = CAROM_CHOICE, .choices = "variable|0|1|2",
     .about = "adaptive steps: order of the error estimate; variable: 0 at impacts, else the scheme's"},
    [CAROM_OPT_VIOLATION] = {.name = "violation", .kind = CAROM_CHOICE, .choices = "on|off",
     .about = "adaptive steps: penetration counts as an error"},
    [CAROM_OPT_SAFETY] = {.name = "safety", .kind = CAROM_REAL, .fallback = 0.9, .low = 0.1, .high = 1,
     .open_high = true,
     .about = "adaptive steps: the next step is this part of the one that the estimate allows"},
    [CAROM_OPT_SHRINK] = {.name = "shrink", .kind = CAROM_REAL, .fallback = 0.2, .low = 0.01, .high = 0.9,
     .about = "adaptive steps: the least ratio of a step to the one before; half of that after a rejection"},
    [CAROM_OPT_GROW] = {.name = "grow", .kind = CAROM_REAL, .fallback = 2, .low = 1.05, .high = 100,
     .about = "adaptive steps: the largest ratio of a step to the one before"},
    [CAROM_OPT_EXTRAPOLATE] = {.name = "extrapolate", .kind = CAROM_CHOICE, .choices = "off|on",
     .about = "adaptive steps: x(two halves) + (x(two halves) - x(whole step))/(2^p - 1) where no contact acts, "
              "which is at least of order p + 1, p being that of the scheme"},
    [CAROM_OPT_CONTROL] = {.name = "control", .kind = CAROM_CHOICE, .choices = "pi|lecture",
     .about = "adaptive steps: step size from the last two errors (pi) or from the last one alone (lecture: the rule "
              "of textbooks)"},
    [CAROM_OPT_PROX_R] = {.name = "prox-r", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e12,
     .about = "solver=prox: r of all rows, in kg; 0: 1 / sum_j |G_ij| of each row"},
    [CAROM_OPT_PROX_TEST] = {.name = "prox-test", .kind = CAROM_CHOICE, .choices = "residual|natural|constant",
     .about = "solver=prox: r changes with the residual, is halved where the natural monotonicity test fails, or is "
              "constant"},
    [CAROM_OPT_PROX_STOP] = {.name = "prox-stop", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e6,
     .about = "solver=prox: ends at |p - proj(p - r u)| of this many N s; 0: at the residual in velocities"},
    [CAROM_COMMON_COUNT] = {0},
};

carom_sim_def carom_sim_default(void) {
    return (carom_sim_def){.scheme = carom_scheme_at(0)->name, .h = NAN, .t_end = NAN};
}

// -- reading ---------------------------------------------------------------------------------------

static const char *option_name(const void *user, int i) {
    const carom_option *own = ((const carom_scheme *)user)->options;
    const int n = carom_option_count(own);
    if (i < n) return own[i].name;
    return i - n < CAROM_COMMON_COUNT ? carom_common_options[i - n].name : NULL;
}

static carom_status unknown_option(const carom_scheme *scheme, const char *key, carom_error *err) {
    char list[400] = "";
    for (int i = 0; option_name(scheme, i); ++i) {
        const size_t used = strlen(list);
        // its own comes first
        if (i >= carom_option_count(scheme->options) &&
            carom_option_find(scheme->options, option_name(scheme, i), strlen(option_name(scheme, i))) >= 0)
            continue;
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", option_name(scheme, i));
    }
    const char *near = carom_nearest(key, option_name, scheme);
    return carom_fail(err, CAROM_BAD_INPUT, "scheme %s: unknown option '%.60s'%s%s%s its options are: %s", scheme->name,
                      key, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ";", list);
}

bool carom_sim_given(const char *const *list, const char *name) {
    const size_t length = strlen(name);
    for (; list && *list; ++list)
        if (strncmp(*list, name, length) == 0 && (*list)[length] == '=') return true;
    return false;
}

static carom_status read_options(const carom_scheme *scheme, const char *const *list, double *value, carom_error *err) {
    const int own = carom_option_count(scheme->options);
    carom_option_defaults(scheme->options, value);
    carom_option_defaults(carom_common_options, value + own);
    for (; list && *list; ++list) {
        const char *equals = strchr(*list, '=');
        if (!equals) return carom_fail(err, CAROM_BAD_INPUT, "option '%.60s' has no value; write key=value", *list);
        const size_t length = (size_t)(equals - *list);
        int i = carom_option_find(scheme->options, *list, length);
        const carom_option *o = i >= 0 ? scheme->options + i : NULL;
        if (!o && (i = carom_option_find(carom_common_options, *list, length)) >= 0) {
            o = carom_common_options + i;
            i += own;
        }
        if (!o) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)(length < 60 ? length : 60), *list);
            return unknown_option(scheme, key, err);
        }
        CAROM_TRY(carom_option_read(o, equals + 1, value + i, err));
    }
    return CAROM_OK;
}

// -- what a scheme lacks -------------------------------------------------------------------------------

// What the system needs that a scheme may lack.
// whole: the end is a whole number of steps
static unsigned needs_of(const carom_sim_def *def, bool whole, bool adaptive) {
    const carom_system *sys = def->system;
    unsigned needs = 0;
    if (sys->ne > 0) needs |= CAROM_NO_BILATERAL;
    if (sys->nc > (sys->contact_list->forces ? sys->listed : 0)) needs |= CAROM_NO_IMPACTS;
    for (int i = 0; i < sys->nc; ++i) {
        if (sys->contacts[i].friction > 0) needs |= CAROM_NO_FRICTION;
        if (sys->contacts[i].restitution != sys->contacts[0].restitution) needs |= CAROM_NO_UNEQUAL_RESTITUTION;
    }
    if (carom_impacts_differ(sys)) needs |= CAROM_NO_IMPACT_LAWS;
    if (!whole && !adaptive) needs |= CAROM_NO_STEP_CHANGE;
    if (adaptive) needs |= CAROM_NO_ADAPTIVE;
    if (sys->contact_list->sleeps || carom_discs_used(sys)) needs |= CAROM_NO_REST;
    return needs;
}

static const carom_scheme *scheme_at(const carom_sim_def *def, int i) {
    if (!def->schemes) return carom_scheme_at(i);
    for (int k = 0; k < i; ++k)
        if (!def->schemes[k]) return NULL;
    return def->schemes[i];
}

static void add_name(char *list, size_t size, const char *name) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static carom_status no_gates(const carom_sim_def *def, const carom_scheme *scheme, carom_error *err) {
    char able[400] = "";
    for (int i = 0; scheme_at(def, i); ++i)
        if (scheme_at(def, i)->closes_while) add_name(able, sizeof able, scheme_at(def, i)->name);
    return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support `closes while`; schemes that do: %s",
                      scheme->name, able);
}

static carom_status check_lacks(const carom_sim_def *def, const carom_scheme *scheme, unsigned needs, unsigned ignored,
                                carom_error *err) {
    const struct { unsigned flag; const char *text; } lacks[] = {
        {CAROM_NO_IMPACTS, "impacts"},
        {CAROM_NO_FRICTION, "friction"},
        {CAROM_NO_BILATERAL, "bilateral constraints"},
        {CAROM_NO_UNEQUAL_RESTITUTION, "contacts with different restitution"},
        {CAROM_NO_IMPACT_LAWS, "other laws of impact than Newton's with constant restitution"},
        {CAROM_NO_STEP_CHANGE, "an end time that is not a whole number of steps"},
        {CAROM_NO_ADAPTIVE, "adaptive step sizes"},
        {CAROM_NO_REST, def->system->contact_list->sleeps ? "`sleep`" : "`resistance: discs`"},
    };
    const char *what = NULL;
    const carom_system *sys = def->system;
    for (int c = 0; c < sys->nc && !scheme->closes_while && !sys->conditional->nswitches; ++c)
        if (carom_system_closes_while(sys, c)) return no_gates(def, scheme, err);
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; ++i)
        if (scheme->limitations & needs & ~ignored & lacks[i].flag) what = lacks[i].text;
    if (!what) return CAROM_OK;
    char able[400] = "";
    for (int i = 0; scheme_at(def, i); ++i)
        if (!(scheme_at(def, i)->limitations & needs)) add_name(able, sizeof able, scheme_at(def, i)->name);
    const bool impacts = (scheme->limitations & needs & ~ignored) == CAROM_NO_IMPACTS;
    return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support %s; schemes that support this model: %s%s",
                      scheme->name, what, able,
                      impacts ? " (impacts=ignore runs it all the same, for comparison only)" : "");
}

int carom_sim_order(const carom_scheme *scheme, const double *opt) {
    return scheme->order_of ? scheme->order_of(opt) : scheme->order;
}

static carom_status check_extrapolation(const carom_sim_def *def, const carom_scheme *scheme, const double *opt,
                                        carom_error *err) {
    const double *common = opt + carom_option_count(scheme->options);
    if (common[CAROM_OPT_EXTRAPOLATE] == 0) return CAROM_OK;
    if (common[CAROM_OPT_ADAPTIVE] == 0)
        return carom_fail(err, CAROM_BAD_INPUT, "extrapolate=on belongs to adaptive steps; add adaptive=on");
    if (def->system->move)
        return carom_fail(err, CAROM_BAD_INPUT, "extrapolate=on does not support rotations in space");
    return CAROM_OK;
}

// What a person wants to run although the scheme lacks it.
static unsigned ignored_by(const carom_scheme *scheme, const double *opt) {
    const int i = carom_option_find(scheme->options, "impacts", strlen("impacts"));
    return i >= 0 && opt[i] == 1 ? CAROM_NO_IMPACTS : 0;
}

carom_status carom_sim_read_options(const carom_sim_def *def, const carom_scheme *scheme, bool whole, double *opt,
                                    carom_error *err) {
    CAROM_TRY(read_options(scheme, def->options, opt, err));
    const bool adaptive = opt[carom_option_count(scheme->options) + CAROM_OPT_ADAPTIVE] == 1;
    CAROM_TRY(check_lacks(def, scheme, needs_of(def, whole, adaptive), ignored_by(scheme, opt), err));
    return check_extrapolation(def, scheme, opt, err);
}

static const char *scheme_name(const void *user, int i) {
    const carom_scheme *scheme = scheme_at(user, i);
    return scheme ? scheme->name : NULL;
}

carom_status carom_sim_find_scheme(const carom_sim_def *def, const carom_scheme **scheme, carom_error *err) {
    for (int i = 0; (*scheme = scheme_at(def, i)); ++i)
        if (!def->scheme || strcmp((*scheme)->name, def->scheme) == 0) return CAROM_OK;
    const char *near = carom_nearest(def->scheme, scheme_name, def);
    const char *more = def->schemes ? "`carom schemes` lists them"
                                    : "those outside the core are known with schemes = carom_schemes() (carom/event.h)";
    return carom_fail(err, CAROM_BAD_INPUT, "unknown scheme '%.60s'%s%s%s %s", def->scheme,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ";", more);
}

carom_status carom_sim_check_options(const carom_sim_def *def, const char *name, carom_error *err) {
    const carom_scheme *scheme;
    CAROM_TRY(carom_sim_find_scheme(def, &scheme, err));
    double *value = calloc((size_t)carom_option_count(scheme->options) + CAROM_COMMON_COUNT, sizeof *value);
    carom_status status = value ? read_options(scheme, def->options, value, err)
                                : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for options");
    free(value);
    if (status != CAROM_OK || !name) return status;
    const bool known = carom_option_find(scheme->options, name, strlen(name)) >= 0 ||
                       carom_option_find(carom_common_options, name, strlen(name)) >= 0;
    return known ? CAROM_OK : unknown_option(scheme, name, err);
}

// -- as text ------------------------------------------------------------------------------------------

const char *carom_sim_warning(const carom_sim *sim) {
    if (!sim) return NULL;
    return sim->scheme->warning ? sim->scheme->warning(sim->opt) : NULL;
}

void carom_sim_options_text(const carom_sim *sim, char *text, size_t size) {
    if (!sim || !text) return;
    const int own = carom_option_count(sim->scheme->options);
    if (size == 0) return;
    text[0] = 0;
    for (int i = 0; i < own + CAROM_COMMON_COUNT; ++i) {
        const carom_option *o = i < own ? sim->scheme->options + i : carom_common_options + (i - own);
        // the scheme's own rules
        if (i >= own && carom_option_find(sim->scheme->options, o->name, strlen(o->name)) >= 0) continue;
        char value[40];
        carom_option_write(o, sim->opt[i], value, sizeof value);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s=%s", i ? " " : "", o->name, value);
    }
}
