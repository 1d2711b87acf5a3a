// compare.c: a comparison: what is to be run, checked before anything runs; rows and orders.
#define _POSIX_C_SOURCE 200809L // strdup
#include "study/compare.h"
#include <carom/event.h>
#include <carom/result.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t MEMORY = (size_t)2000 * 1000 * 1000;

carom_compare_def carom_compare_default(void) {
    return (carom_compare_def){.end = NAN, .norm = CAROM_NORM_L1, .threads = 1};
}

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "no memory for a comparison");
}

// -- schemes ----------------------------------------------------------------------------------------------

static int length_of(const char *const *list) {
    int n = 0;
    while (list && list[n]) ++n;
    return n;
}

static carom_status read_spec(spec *s, const carom_model *m, const char *text, const char *const *common, carom_error *err) {
    const carom_model_run file = carom_model_simulation(m);
    int n = 0, own = 1;
    for (const char *at = text; *at; ++at) own += *at == ':';
    *s = (spec){.text = strdup(text), .own = strdup(text)};
    s->options = calloc((size_t)(length_of(file.options) + length_of(common) + own + 1), sizeof *s->options);
    if (!s->text || !s->own || !s->options) return no_memory(err);
    char *rest = strchr(s->own, ':');
    if (rest) *rest++ = 0;
    s->name = s->own;
    if (file.scheme && strcmp(file.scheme, s->name) == 0)
        for (int i = 0; file.options && file.options[i]; ++i) s->options[n++] = file.options[i];
    for (int i = 0; common && common[i]; ++i) s->options[n++] = common[i];
    for (char *next; rest; rest = next) {
        next = strchr(rest, ':');
        if (next) *next++ = 0;
        s->options[n++] = rest;
    }
    return CAROM_OK;
}

static void free_spec(spec *s) {
    free(s->text);
    free(s->own);
    free(s->options);
}

static const char *constraint_name(const void *user, int id) {
    return carom_model_constraint(user, id);
}

carom_sim *carom_compare_sim(const carom_compare *c, const spec *s, double step, carom_error *err) {
    carom_sim_def def = carom_sim_default();
    def.system = carom_model_system(c->model);
    def.schemes = carom_schemes();
    def.scheme = s->name;
    def.options = s->options;
    def.h = step;
    def.t_end = c->end;
    def.q0 = carom_model_q0(c->model);
    def.v0 = carom_model_v0(c->model);
    def.name = constraint_name;
    def.name_user = c->model;
    return carom_sim_create(&def, err);
}

// Can this be run?  What only a start can tell is the run's own business.
static carom_status try_sim(const carom_compare *c, const spec *s, double step, long *steps, carom_error *err) {
    carom_error why = {0};
    carom_sim *sim = carom_compare_sim(c, s, step, &why);
    *steps = sim ? carom_sim_total_steps(sim) : 0;
    carom_sim_destroy(sim);
    if (sim || why.code != CAROM_BAD_INPUT) return CAROM_OK;
    return carom_fail(err, why.code, "%.100s, step %g: %.800s", s->text, step, why.text);
}

static carom_status read_schemes(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    const int n = length_of(def->schemes);
    if (n == 0) return carom_fail(err, CAROM_BAD_INPUT, "no schemes to compare");
    c->schemes = calloc((size_t)n, sizeof *c->schemes);
    if (!c->schemes) return no_memory(err);
    for (; c->nschemes < n; ++c->nschemes) {
        const char *text = def->schemes[c->nschemes];
        for (int i = 0; i < c->nschemes; ++i)
            if (strcmp(c->schemes[i].text, text) == 0) return carom_fail(err, CAROM_BAD_INPUT, "the scheme '%.100s' is given twice", text);
        const carom_status status = read_spec(&c->schemes[c->nschemes], c->model, text, def->options, err);
        if (status != CAROM_OK) {
            free_spec(&c->schemes[c->nschemes]);
            return status;
        }
    }
    return CAROM_OK;
}

static int decreasing(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static carom_status read_steps(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    if (def->nsteps < 1) return carom_fail(err, CAROM_BAD_INPUT, "no step sizes to compare");
    c->steps = calloc((size_t)def->nsteps, sizeof *c->steps);
    if (!c->steps) return no_memory(err);
    memcpy(c->steps, def->steps, (size_t)def->nsteps * sizeof *c->steps);
    for (int k = 0; k < def->nsteps; ++k)
        if (!(c->steps[k] > 0 && isfinite(c->steps[k])))
            return carom_fail(err, CAROM_BAD_INPUT, "a step size must be positive; %g is not", c->steps[k]);
    qsort(c->steps, (size_t)def->nsteps, sizeof *c->steps, decreasing);
    for (int k = 1; k < def->nsteps; ++k)
        if (c->steps[k] == c->steps[k - 1]) return carom_fail(err, CAROM_BAD_INPUT, "the step size %g is given twice", c->steps[k]);
    c->nsteps = def->nsteps;
    return CAROM_OK;
}

static carom_status plan_jobs(carom_compare *c, carom_error *err) {
    c->njobs = c->nschemes * c->nsteps;
    c->jobs = calloc((size_t)c->njobs, sizeof *c->jobs);
    if (!c->jobs) return no_memory(err);
    for (int i = 0; i < c->njobs; ++i) {
        job *j = &c->jobs[i];
        long steps = 0;
        *j = (job){.scheme = i % c->nschemes, .step = c->steps[i / c->nschemes], .error = NAN, .order = NAN};
        CAROM_TRY(try_sim(c, &c->schemes[j->scheme], j->step, &steps, err));
        c->total += steps;
    }
    return CAROM_OK;
}

// -- the reference ------------------------------------------------------------------------------------------

static bool ends(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

// When all steps are multiples of the reference's, only common multiples need to be kept.  A graph needs them all.
static long common_stride(const carom_compare *c) {
    long stride = 0;
    if (c->norm == CAROM_NORM_HAUSDORFF) return 1;
    for (int k = 0; k < c->nsteps; ++k) {
        const double ratio = c->steps[k] / c->against_step;
        long a = lround(ratio), b = stride;
        if (!(ratio < 1e15) || a < 1 || fabs(ratio - (double)a) > 1e-9 * ratio) return 1;
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
    c->against_step = colon ? strtod(colon + 1, &end) : 0;
    if (!colon || end == colon + 1 || *end || colon == text || (size_t)(colon - text) >= sizeof scheme)
        return carom_fail(err, CAROM_BAD_INPUT, "the reference '%.100s' is none of SCHEME:STEP, FILE.h5, exact", text);
    if (!(c->against_step > 0 && isfinite(c->against_step)))
        return carom_fail(err, CAROM_BAD_INPUT, "the reference '%.100s' has no positive step size behind its last colon", text);
    snprintf(scheme, sizeof scheme, "%.*s", (int)(colon - text), text);
    CAROM_TRY(read_spec(&c->against, c->model, scheme, options, err));
    long steps = 0;
    CAROM_TRY(try_sim(c, &c->against, c->against_step, &steps, err));
    c->reference = (reference){.kind = REFERENCE_RUN, .of = &c->of};
    c->stride = common_stride(c);
    c->total += steps;
    snprintf(c->about, sizeof c->about, "%.200s, step %g", scheme, c->against_step);
    return CAROM_OK;
}

static carom_status read_reference(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    const bool exact = carom_model_count(c->model).exact;
    const char *text = def->reference;
    char own[300];
    if (!text && exact) text = "exact";
    if (!text) {
        snprintf(own, sizeof own, "%.250s:%.17g", c->schemes[0].text, c->steps[c->nsteps - 1] / 10);
        text = own;
    }
    if (strcmp(text, "exact") == 0) {
        if (!exact) return carom_fail(err, CAROM_BAD_INPUT, "the model has no section `exact`; give a reference SCHEME:STEP or FILE.h5");
        c->reference = (reference){.kind = REFERENCE_EXACT, .of = &c->of};
        snprintf(c->about, sizeof c->about, "the exact solution of the model");
        return CAROM_OK;
    }
    if (ends(text, ".h5") || ends(text, ".csv")) {
        snprintf(c->about, sizeof c->about, "%.290s", text);
        return carom_reference_read(&c->reference, &c->of, text, c->end, c->memory, err);
    }
    return read_against(c, text, def->options, err);
}

// -- memory ---------------------------------------------------------------------------------------------------

static double nodes(const carom_compare *c, double step, double stride) {
    return ceil(c->end / step / stride) + 3;
}

// Bytes of one trajectory; graphs and their trees beside it when they are compared.
static double bytes(const carom_compare *c, double count) {
    return count * (double)(carom_trajectory_bytes(c->of.nv, 1) + (c->norm == CAROM_NORM_HAUSDORFF ? 14 * sizeof(double) : 0));
}

static carom_status check_memory(carom_compare *c, carom_error *err) {
    const double most = (double)c->memory, run = bytes(c, nodes(c, c->steps[c->nsteps - 1], 1));
    double ref = 0;
    if (c->reference.kind == REFERENCE_RUN) ref = bytes(c, nodes(c, c->against_step, (double)c->stride));
    if (c->reference.kind == REFERENCE_FILE) ref = bytes(c, (double)c->reference.tr.count);
    while (c->threads > 1 && ref + c->threads * run > most) --c->threads;
    if (ref + run <= most) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT,
                      "the trajectories would take %.3g GB (reference %.3g, smallest step %.3g), more than the limit of %.3g GB; take "
                      "larger steps, an earlier end, or a reference whose step divides all others",
                      1e-9 * (ref + run), 1e-9 * ref, 1e-9 * run, 1e-9 * most);
}

// -- create ---------------------------------------------------------------------------------------------------

static carom_status create(carom_compare *c, const carom_compare_def *def, carom_error *err) {
    if (!(def->end > 0 && isfinite(def->end))) return carom_fail(err, CAROM_BAD_INPUT, "the end time must be positive; it is %g", def->end);
    CAROM_TRY(carom_quantities_create(&c->of, def->model, def->of, err));
    CAROM_TRY(read_schemes(c, def, err));
    CAROM_TRY(read_steps(c, def, err));
    CAROM_TRY(plan_jobs(c, err));
    CAROM_TRY(read_reference(c, def, err));
    return check_memory(c, err);
}

carom_compare *carom_compare_create(const carom_compare_def *def, carom_error *err) {
    carom_error mine;
    if (!err) err = &mine;
    carom_compare *c = calloc(1, sizeof *c);
    if (!c) return no_memory(err), NULL;
    c->model = def->model;
    c->norm = def->norm;
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
    for (int i = 0; i < c->nschemes; ++i) free_spec(&c->schemes[i]);
    free_spec(&c->against);
    carom_reference_destroy(&c->reference);
    carom_quantities_destroy(&c->of);
    free(c->schemes);
    free(c->steps);
    free(c->jobs);
    free(c);
}

// -- rows -----------------------------------------------------------------------------------------------------

int carom_compare_schemes(const carom_compare *c) {
    return c->nschemes;
}

int carom_compare_steps(const carom_compare *c) {
    return c->nsteps;
}

carom_compare_row carom_compare_row_at(const carom_compare *c, int scheme, int step) {
    const job *j = &c->jobs[step * c->nschemes + scheme];
    return (carom_compare_row){.scheme = c->schemes[scheme].text, .step = j->step, .error = j->error, .order = j->order, .steps = j->steps,
                               .seconds = j->seconds, .done = j->told, .failure = j->status == CAROM_OK ? NULL : j->failure.text};
}

double carom_compare_order(const carom_compare *c, int scheme) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < c->nsteps; ++k) {
        const job *j = &c->jobs[k * c->nschemes + scheme];
        if (!j->told || !(j->error > 0) || isinf(j->error)) continue;
        const double x = log(j->step / c->steps[0]), y = log(j->error);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return n < 2 ? NAN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

// Are all step ends rows of the file?
static bool on_rows(const carom_compare *c) {
    const carom_trajectory *tr = &c->reference.tr;
    for (int k = 0; k < c->nsteps; ++k) {
        const long n = lround(floor(c->end / c->steps[k] * (1 + 1e-12)));
        long row = 0;
        for (long i = 1; i <= n; ++i) {
            const double t = (double)i * c->steps[k];
            while (row < tr->count - 1 && tr->t[row] < t * (1 - 1e-12) - 1e-9 * c->steps[k]) ++row;
            if (fabs(tr->t[row] - t) > 1e-9 * c->steps[k]) return false;
        }
    }
    return true;
}

const char *carom_compare_reference(const carom_compare *c, double *apart) {
    if (apart) *apart = c->reference.kind == REFERENCE_FILE && !on_rows(c) ? c->reference.apart : 0;
    return c->about;
}

const char *carom_compare_name(const carom_compare *c, int i) {
    return i >= 0 && i < c->of.n ? c->of.at[i].name : NULL;
}
