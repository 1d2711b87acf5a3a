// compare.c: a comparison: what is to be run, checked before anything runs; rows and orders.
#include "base/text.h"
#include "base/tolerance.h"
#include "base/number.h"
#include "study/compare.h"
#include "study/trajectory.h"
#include <carom/event.h>
#include <carom/result.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_STEP = 1e-3; // of the time: what adaptive schemes try first where nothing is given
static const double FINE_STEP = 1e-4;  // and the step of what stands for exact
static const double MOST_STEPS = 1e15;  // beyond, a number is not known to 1
static const double APART = 1e-12;     // spread of the steps, relative: a slope needs two that differ

static const size_t MEMORY = (size_t)2000 * 1000 * 1000;

carom_compare_def carom_compare_default(void) {
    return (carom_compare_def){.end = NAN, .norm = CAROM_NORM_L1, .p = 1, .threads = 1};
}

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a comparison");
}

// -- schemes ----------------------------------------------------------------------------------------------

// Can this be run?  What only a start can tell is the run's own business.  *steps: how far it goes in the progress.
static carom_status try_sim(const carom_compare *c, const spec *s, double step, double tolerance, long *steps,
                            carom_error *err) {
    carom_error why = {0};
    carom_sim *sim = carom_compare_sim(c, s, step, tolerance, &why);
    *steps = sim ? carom_sim_total_steps(sim) : 0;
    if (!isnan(tolerance) || *steps == 0) *steps = CAROM_COMPARE_UNITS;
    carom_sim_destroy(sim);
    if (sim || (why.code != CAROM_BAD_INPUT && why.code != CAROM_UNSUPPORTED)) return CAROM_OK;
    const bool tolerated = !isnan(tolerance);
    return carom_fail(err, why.code, "%.100s, %s %g: %.800s", s->text, tolerated ? "tolerance" : "step",
                      tolerated ? tolerance : step, why.text);
}

static carom_status read_schemes(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    const int n = carom_list_length(def->schemes);
    if (n == 0) return carom_fail(err, CAROM_BAD_INPUT, "no schemes to compare");
    c->schemes = calloc((size_t)n, sizeof *c->schemes);
    if (!c->schemes) return no_memory(err);
    for (; c->nschemes < n; ++c->nschemes) {
        const char *text = def->schemes[c->nschemes];
        for (int i = 0; i < c->nschemes; ++i)
            if (strcmp(c->schemes[i].text, text) == 0)
                return carom_fail(err, CAROM_BAD_INPUT, "the scheme '%.100s' is given twice", text);
        const carom_status status = carom_spec_read(&c->schemes[c->nschemes], c->model, text, def->options, err);
        if (status != CAROM_OK) {
            carom_spec_free(&c->schemes[c->nschemes]);
            return status;
        }
    }
    return CAROM_OK;
}

static int decreasing(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// A copy of the numbers, from the largest on; each above 0 and once.
static carom_status read_levels(double **to, int *n, const double *from, int count, const char *what,
                                carom_error *err) {
    if (count < 1) return CAROM_OK;
    double *x = *to = calloc((size_t)count, sizeof *x);
    if (!x) return no_memory(err);
    memcpy(x, from, (size_t)count * sizeof *x);
    for (int k = 0; k < count; ++k)
        if (!(x[k] > 0 && isfinite(x[k])))
            return carom_fail(err, CAROM_BAD_INPUT, "%s must be positive, got %g", what, x[k]);
    qsort(x, (size_t)count, sizeof *x, decreasing);
    for (int k = 1; k < count; ++k)
        if (x[k] == x[k - 1]) return carom_fail(err, CAROM_BAD_INPUT, "the %s %g is given twice", what, x[k]);
    *n = count;
    return CAROM_OK;
}

// Who takes the steps and who the tolerances.
static carom_status share_levels(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    CAROM_TRY(read_levels(&c->steps, &c->nsteps, def->steps, def->nsteps, "step size", err));
    CAROM_TRY(read_levels(&c->tolerances, &c->ntolerances, def->tolerances, def->ntolerances, "tolerance", err));
    if (c->nsteps + c->ntolerances == 0)
        return carom_fail(err, CAROM_BAD_INPUT, "no step sizes and no tolerances to compare");
    int equal = 0, adaptive = 0;
    for (int i = 0; i < c->nschemes; ++i) {
        spec *s = &c->schemes[i];
        if (c->ntolerances > 0) CAROM_TRY(carom_spec_tolerate(s, c->nsteps > 0, err));
        else s->adaptive = false; // its step is what it tries first
        *(s->adaptive ? &adaptive : &equal) += 1;
    }
    if (c->ntolerances > 0 && adaptive == 0)
        return carom_fail(err, CAROM_BAD_INPUT, "none of the schemes takes the tolerances; write SCHEME:adaptive=on");
    if (c->nsteps > 0 && equal == 0)
        return carom_fail(err, CAROM_BAD_INPUT, "none of the schemes takes the step sizes; all of them are adaptive");
    c->levels = c->nsteps > c->ntolerances ? c->nsteps : c->ntolerances;
    c->first = def->first > 0 ? fmin(def->first, c->end) : FIRST_STEP * c->end;
    c->fine = c->nsteps > 0 ? c->steps[c->nsteps - 1] : FINE_STEP * c->end;
    return CAROM_OK;
}

static job job_of(const carom_compare *c, int scheme, int level) {
    const spec *s = &c->schemes[scheme];
    job j = {.scheme = scheme, .tolerance = NAN, .error = NAN, .order = NAN};
    j.step = s->adaptive ? (s->divides ? c->end / CAROM_COMPARE_PIECES : c->first) : c->steps[level];
    if (s->adaptive) j.tolerance = c->tolerances[level];
    return j;
}

static carom_status plan_jobs(carom_compare *c, carom_error *err) {
    const size_t most = (size_t)c->nschemes * (size_t)c->levels;
    c->jobs = calloc(most, sizeof *c->jobs);
    c->at = calloc(most, sizeof *c->at);
    if (!c->jobs || !c->at) return no_memory(err);
    for (int k = 0; k < c->levels; ++k)
        for (int i = 0; i < c->nschemes; ++i) {
            long steps = 0;
            c->at[i * c->levels + k] = -1;
            if (k >= carom_compare_runs(c, i)) continue;
            c->at[i * c->levels + k] = c->njobs;
            job *j = &c->jobs[c->njobs++];
            *j = job_of(c, i, k);
            CAROM_TRY(try_sim(c, &c->schemes[i], j->step, j->tolerance, &steps, err));
            c->total += steps;
        }
    return CAROM_OK;
}

// -- the reference ------------------------------------------------------------------------------------------

// When all steps are multiples of the reference's, only common multiples need to be kept.  A graph needs them all, and
// adaptive steps end anywhere.
static long common_stride(const carom_compare *c) {
    long stride = 0;
    if (c->norm == CAROM_NORM_HAUSDORFF || c->ntolerances > 0) return 1;
    for (int k = 0; k < c->nsteps; ++k) {
        const double ratio = c->steps[k] / c->against_step;
        long a = lround(ratio), b = stride;
        if (!(ratio < MOST_STEPS) || a < 1 || fabs(ratio - (double)a) > CAROM_INSTANT * ratio) return 1;
        while (b) { // greatest common divisor
            const long rest = a % b;
            a = b;
            b = rest;
        }
        stride = a;
    }
    return stride;
}

static carom_status read_against(carom_compare *c, const char *text, const char *const *options, carom_error *err) {
    const char *colon = strrchr(text, ':');
    char *end = NULL, scheme[256];
    c->against_step = colon ? carom_number(colon + 1, &end) : 0;
    if (!colon || end == colon + 1 || *end || colon == text || (size_t)(colon - text) >= sizeof scheme)
        return carom_fail(err, CAROM_BAD_INPUT, "the reference '%.100s' is not one of SCHEME:STEP, FILE.h5, exact",
                          text);
    if (!(c->against_step > 0 && isfinite(c->against_step)))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the reference '%.100s' has no positive step size after its last colon", text);
    snprintf(scheme, sizeof scheme, "%.*s", (int)(colon - text), text);
    CAROM_TRY(carom_spec_read(&c->against, c->model, scheme, options, err));
    carom_format(c->about, sizeof c->about, "%.200s, step %g", scheme, c->against_step);
    return CAROM_OK;
}

// Of the first scheme: a tenth of the smallest step, or a hundredth of the smallest tolerance.
static carom_status choose_against(carom_compare *c, const char *const *options, carom_error *err) {
    const spec *s = &c->schemes[0];
    CAROM_TRY(carom_spec_read(&c->against, c->model, s->text, options, err));
    c->against_step = s->adaptive ? (s->divides ? FINE_STEP * c->end : c->first) : c->steps[c->nsteps - 1] / 10;
    if (s->adaptive) {
        CAROM_TRY(carom_spec_tolerate(&c->against, false, err));
        c->against_tolerance = fmax(c->tolerances[c->ntolerances - 1] / 100, carom_spec_tightest(s));
        carom_format(c->about, sizeof c->about, "%.200s, tolerance %g", s->text, c->against_tolerance);
    } else {
        carom_format(c->about, sizeof c->about, "%.200s, step %g", s->text, c->against_step);
    }
    return CAROM_OK;
}

static carom_status plan_against(carom_compare *c, const char *text, const char *const *options, carom_error *err) {
    long steps = 0;
    c->reference = (reference){.kind = REFERENCE_RUN, .of = &c->of};
    c->against_tolerance = NAN;
    CAROM_TRY(text ? read_against(c, text, options, err) : choose_against(c, options, err));
    CAROM_TRY(try_sim(c, &c->against, c->against_step, c->against_tolerance, &steps, err));
    c->stride = c->against.adaptive && !c->against.divides ? 1 : common_stride(c);
    c->total += steps;
    return CAROM_OK;
}

static carom_status read_reference(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    const bool exact = carom_model_count(c->model).exact;
    const char *text = def->reference;
    if (!text && exact) text = "exact";
    if (text && strcmp(text, "exact") == 0) {
        if (!exact)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "the model has no section `exact`; give a reference SCHEME:STEP or FILE.h5");
        c->reference = (reference){.kind = REFERENCE_EXACT, .of = &c->of};
        snprintf(c->about, sizeof c->about, "the exact solution of the model");
        return CAROM_OK;
    }
    if (text && (carom_ends(text, ".h5") || carom_ends(text, ".csv"))) {
        snprintf(c->about, sizeof c->about, "%.290s", text);
        return carom_reference_read(&c->reference, &c->of, text, c->end, c->memory, err);
    }
    return plan_against(c, text, def->options, err);
}

// -- memory ---------------------------------------------------------------------------------------------------

static double nodes(const carom_compare *c, double step, double stride) { return ceil(c->end / step / stride) + 3; }

// Bytes of one trajectory; graphs and their trees beside it when they are compared.
static double bytes(const carom_compare *c, double count) {
    return count *
           (double)(carom_trajectory_bytes(c->of.nq, 1) + (c->norm == CAROM_NORM_HAUSDORFF ? 14 * sizeof(double) : 0));
}

static carom_status check_memory(carom_compare *c, carom_error *err) {
    // How long an adaptive run becomes shows in the run: it has its share and fails when that is full.
    const double most = (double)c->memory, per_step = c->dense ? CAROM_COMPARE_DENSE : 1;
    const double run = c->nsteps > 0 ? bytes(c, nodes(c, c->steps[c->nsteps - 1], 1 / per_step)) : 0;
    double ref = 0;
    if (c->reference.kind == REFERENCE_RUN) ref = bytes(c, nodes(c, c->against_step, (double)c->stride));
    if (c->reference.kind == REFERENCE_FILE) ref = bytes(c, (double)c->reference.tr.count);
    while (c->threads > 1 && ref + c->threads * run > most) --c->threads;
    c->most = (size_t)fmax(0, (most - ref) / c->threads);
    if (ref + run <= most) return CAROM_OK;
    return carom_fail(
        err, CAROM_BAD_INPUT,
        "the trajectories would require %.3g GB (reference %.3g, smallest step %.3g), more than the limit of %.3g GB; "
        "take larger steps, an earlier end, or a reference whose step divides all others",
        1e-9 * (ref + run), 1e-9 * ref, 1e-9 * run, 1e-9 * most);
}

// -- create ---------------------------------------------------------------------------------------------------

// Who has a dense output?
static carom_status check_dense(const carom_compare *c, carom_error *err) {
    if (!c->dense) return CAROM_OK;
    if (c->norm == CAROM_NORM_HAUSDORFF)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the hausdorff norm joins step ends by lines; errors over the dense output have the norms "
                          "l1, l2, linf and matrix");
    char able[200] = "";
    for (int i = 0; carom_schemes()[i]; ++i) {
        const size_t used = strlen(able);
        if (carom_schemes()[i]->dense)
            snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "", carom_schemes()[i]->name);
    }
    for (int i = 0; i < c->nschemes; ++i)
        if (!c->schemes[i].scheme->dense)
            return carom_fail(err, CAROM_BAD_INPUT, "scheme %s has no dense output; these have: %s",
                              c->schemes[i].scheme->name, able);
    return CAROM_OK;
}

static carom_status create(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    if (!(def->end > 0 && isfinite(def->end)))
        return carom_fail(err, CAROM_BAD_INPUT, "end time must be positive, got %g", def->end);
    CAROM_TRY(carom_quantities_create(&c->of, def->model, def->of, err));
    CAROM_TRY(read_schemes(c, def, err));
    CAROM_TRY(share_levels(c, def, err));
    CAROM_TRY(plan_jobs(c, err));
    CAROM_TRY(check_dense(c, err));
    CAROM_TRY(read_reference(c, def, err));
    return check_memory(c, err);
}

carom_compare *carom_compare_create(const carom_compare_def *def, carom_error *err) {
    carom_error mine;
    if (!err) err = &mine;
    if (!def || !def->model) return carom_fail(err, CAROM_BAD_INPUT, "a comparison needs a model"), NULL;
    carom_compare *c = calloc(1, sizeof *c);
    if (!c) return no_memory(err), NULL;
    c->model = def->model;
    c->norm = def->norm;
    c->dense = def->dense;
    c->p = def->p;
    c->relative = def->relative;
    c->end = def->end;
    c->threads = def->threads > 1 ? def->threads : 1;
    c->memory = def->memory ? def->memory : MEMORY;
    c->stride = 1;
    if (create(c, def, err) == CAROM_OK) return c;
    carom_compare_destroy(c);
    return NULL;
}

void carom_compare_destroy(carom_compare *c) {
    if (!c) return;
    for (int i = 0; i < c->nschemes; ++i) carom_spec_free(&c->schemes[i]);
    carom_spec_free(&c->against);
    carom_reference_destroy(&c->reference);
    carom_quantities_destroy(&c->of);
    free(c->schemes);
    free(c->steps);
    free(c->tolerances);
    free(c->jobs);
    free(c->at);
    free(c);
}

// -- rows -----------------------------------------------------------------------------------------------------

int carom_compare_schemes(const carom_compare *c) { return c ? c->nschemes : 0; }

int carom_compare_runs(const carom_compare *c, int scheme) {
    if (!c) return 0;
    return c->schemes[scheme].adaptive ? c->ntolerances : c->nsteps;
}

static const job *job_at(const carom_compare *c, int scheme, int run) {
    return &c->jobs[c->at[scheme * c->levels + run]];
}

double carom_compare_mean_step(const carom_compare *c, const job *j) {
    return isnan(j->tolerance) ? j->step : j->steps > 0 ? c->end / (double)j->steps : NAN;
}

carom_compare_row carom_compare_row_at(const carom_compare *c, int scheme, int run) {
    if (!c) return (carom_compare_row){0};
    const job *j = job_at(c, scheme, run);
    return (carom_compare_row){.scheme = c->schemes[scheme].text,
                               .step = isnan(j->tolerance) ? j->step : NAN,
                               .tolerance = j->tolerance,
                               .error = j->error,
                               .order = j->order,
                               .steps = j->steps,
                               .rejected = j->rejected,
                               .seconds = j->seconds,
                               .done = j->told,
                               .failure = j->status == CAROM_OK ? NULL : j->failure.text,
                               .warning = j->warning.kind ? &j->warning : NULL};
}

double carom_compare_order(const carom_compare *c, int scheme) {
    if (!c) return NAN;
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < carom_compare_runs(c, scheme); ++k) {
        const job *j = job_at(c, scheme, k);
        if (!j->told || !(j->error > 0) || isinf(j->error)) continue;
        const double x = log(carom_compare_mean_step(c, j) / c->end), y = log(j->error);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    const double spread = n * sxx - sx * sx;
    return n < 2 || !(spread > APART * sxx) ? NAN : (n * sxy - sx * sy) / spread;
}

// Are all step ends rows of the file?
static bool on_rows(const carom_compare *c) {
    const carom_trajectory *tr = &c->reference.tr;
    if (c->ntolerances > 0) return false;
    for (int k = 0; k < c->nsteps; ++k) {
        const long n = lround(floor(c->end / c->steps[k] * (1 + CAROM_QUOTIENT)));
        long row = 0;
        for (long i = 1; i <= n; ++i) {
            const double t = (double)i * c->steps[k];
            while (row < tr->count - 1 && tr->t[row] < t * (1 - CAROM_QUOTIENT) - CAROM_INSTANT * c->steps[k]) ++row;
            if (fabs(tr->t[row] - t) > CAROM_INSTANT * c->steps[k]) return false;
        }
    }
    return true;
}

const char *carom_compare_reference(const carom_compare *c, double *apart) {
    if (!c) return NULL;
    if (apart) *apart = c->reference.kind == REFERENCE_FILE && !on_rows(c) ? c->reference.apart : 0;
    return c->about;
}

const char *carom_compare_name(const carom_compare *c, int i) {
    if (!c) return NULL;
    return i >= 0 && i < c->of.n ? c->of.at[i].name : NULL;
}
