// spec.c: what is varied.  a:b:n, log:a:b:n, a,b,c, uniform:a:b:n:seed, normal:mean:sd:n:seed, FILE.csv:column.
#include "base/number.h"
#include "base/option.h"
#include "model/conditions.h"
#include "sweep/sweep.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100000000 }; // values of one --vary

static carom_status wrong(carom_error *err, const varied *v, const char *what) {
    return carom_fail(err, CAROM_BAD_INPUT,
                      "`vary %.60s`: %.500s; write a:b:n, log:a:b:n, a,b,c, uniform:a:b:n:seed, normal:mean:sd:n:seed "
                      "or FILE.csv:column",
                      v->name, what);
}

// -- random numbers: the same on every machine ----------------------------------------------------------------

static uint64_t next(uint64_t *state) { // splitmix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) { return ((double)(next(state) >> 11) + 0.5) * 0x1p-53; } // in (0, 1)

// -- parts of a text -------------------------------------------------------------------------------------------

// Numbers between separators, the first `kind` of them with units or without, at most `room`; -1: one of them is
// neither, and why.
static int numbers(const varied *v, const char *text, char separator, double *x, int room, int kind, carom_error *why) {
    for (int n = 0;; ++n) {
        const char stop[2] = {separator, 0};
        const size_t length = strcspn(text, stop);
        char *end = NULL;
        if (n == room) return room + 1;
        if (n >= kind) x[n] = carom_number(text, &end);
        if (n >= kind && (end == text || end != text + length || !isfinite(x[n])))
            return carom_fail(why, CAROM_BAD_INPUT, "'%.*s' is not a number", (int)(length < 60 ? length : 60), text),
                   -1;
        if (n < kind && !carom_model_quantity(v->model, v->name, text, length, &x[n], why)) return -1;
        if (!text[length]) return n + 1;
        text += length + 1;
    }
}

static carom_status reserve(varied *v, double n, carom_error *err) {
    if (!(n >= 1 && n == floor(n))) return wrong(err, v, "the number of values must be an integer of at least 1");
    if (n > MOST)
        return carom_fail(err, CAROM_BAD_INPUT, "`vary %.60s`: %g values; at most %d are possible", v->name, n, MOST);
    v->n = (long)n;
    v->value = malloc((size_t)v->n * sizeof *v->value);
    return v->value ? CAROM_OK
                    : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the values of `vary %.60s`", v->name);
}

// a:b:n.  Both ends are exact.
static carom_status range(varied *v, const char *text, bool logarithmic, carom_error *err) {
    double x[3];
    carom_error why = {0};
    const int n = numbers(v, text, ':', x, 3, 2, &why);
    if (n != 3) return wrong(err, v, n < 0 ? why.text : "a range has two ends and a number of values");
    if (logarithmic && !(x[0] > 0 && x[1] > 0))
        return wrong(err, v, "both ends of a logarithmic range must be positive");
    CAROM_TRY(reserve(v, x[2], err));
    if (v->n == 1 && x[0] != x[1]) return wrong(err, v, "one value cannot be at both ends");
    for (long i = 0; i < v->n; ++i) {
        const double s = v->n > 1 ? (double)i / (double)(v->n - 1) : 0;
        v->value[i] = i == v->n - 1 ? x[1]
                      : i == 0      ? x[0]
                      : logarithmic ? exp((1 - s) * log(x[0]) + s * log(x[1]))
                                    : (1 - s) * x[0] + s * x[1];
    }
    return CAROM_OK;
}

static const double LARGEST_SEED = 9e15; // below 2^53: every integer is a number

static carom_status sample(varied *v, const char *text, bool normal, carom_error *err) {
    double x[4];
    carom_error why = {0};
    const int n = numbers(v, text, ':', x, 4, 2, &why);
    if (n != 4) return wrong(err, v, n < 0 ? why.text : "a sample has two numbers, a number of values and a seed");
    if (normal && !(x[1] >= 0)) return wrong(err, v, "the standard deviation must not be negative");
    if (x[3] != floor(x[3]) || fabs(x[3]) > LARGEST_SEED) return wrong(err, v, "the seed must be an integer");
    CAROM_TRY(reserve(v, x[2], err));
    uint64_t state = (uint64_t)(int64_t)x[3];
    for (long i = 0; i < v->n; ++i) {
        const double u = uniform(&state);
        if (!normal) v->value[i] = x[0] + (x[1] - x[0]) * u;
        else
            v->value[i] =
                x[0] + x[1] * sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * uniform(&state)); // Box and Muller
    }
    return CAROM_OK;
}

static carom_status list(varied *v, const char *text, carom_error *err) {
    size_t n = 1;
    for (const char *c = text; *c; ++c) n += *c == ',';
    CAROM_TRY(reserve(v, (double)n, err));
    carom_error why = {0};
    if (numbers(v, text, ',', v->value, (int)n, (int)n, &why) == (int)n) return CAROM_OK;
    if (v->kind != VARY_OPTION) return wrong(err, v, why.text);
    v->word = calloc(n + 1, sizeof *v->word); // options may be words
    for (size_t i = 0; v->word && i < n; ++i, text += strcspn(text, ",") + 1) {
        const size_t length = strcspn(text, ",");
        v->word[i] = malloc(length + 1);
        if (!v->word[i]) break;
        memcpy(v->word[i], text, length);
        v->word[i][length] = 0;
        v->value[i] = (double)i;
    }
    return v->word && v->word[n - 1]
               ? CAROM_OK
               : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the values of `vary %.60s`", v->name);
}

// -- a column of a CSV file --------------------------------------------------------------------------------------

// The k-th field of a line; its length.
static const char *field(const char *line, int k, size_t *length) {
    for (; k > 0 && *line && *line != '\n'; --k) line += strcspn(line, ",\n"), line += *line == ',';
    *length = strcspn(line, ",\r\n");
    return k == 0 ? line : NULL;
}

static int column_of(const char *line, const char *name) {
    for (int k = 0;; ++k) {
        size_t n = 0;
        const char *at = field(line, k, &n);
        if (!at) return -1;
        if (n >= 2 && at[0] == '"' && at[n - 1] == '"') ++at, n -= 2;
        if (strlen(name) == n && memcmp(at, name, n) == 0) return k;
        if (at[strcspn(at, ",\n")] != ',') return -1;
    }
}

static carom_status column(varied *v, char *text, const char *file, const char *name, carom_error *err) {
    const int k = column_of(text, name);
    if (k < 0)
        return carom_fail(err, CAROM_BAD_INPUT, "`vary %.60s`: %.200s has no column '%.60s'", v->name, file, name);
    long rows = 0;
    for (const char *c = text; *c; ++c) rows += *c == '\n' && c[1] && c[1] != '\n' && c[1] != '\r';
    if (rows == 0) return carom_fail(err, CAROM_BAD_INPUT, "`vary %.60s`: %.200s has no rows", v->name, file);
    CAROM_TRY(reserve(v, (double)rows, err));
    const char *line = text;
    for (long i = 0; i < rows; ++i) {
        size_t n = 0;
        line = strchr(line, '\n') + 1;
        const char *at = field(line, k, &n);
        char *end = NULL;
        v->value[i] = at && n ? carom_number(at, &end) : NAN;
        if (!at || n == 0 || end != at + n || !isfinite(v->value[i]))
            return carom_fail(err, CAROM_BAD_INPUT, "`vary %.60s`: %.200s:%ld: '%.*s' is not a number", v->name, file,
                              i + 2, at ? (int)(n < 40 ? n : 40) : 0, at ? at : "");
    }
    return CAROM_OK;
}

static carom_status from_file(const carom_sweep *s, varied *v, const char *spec, const char *colon, carom_error *err) {
    char file[1024];
    if (!s->def.read_file) return wrong(err, v, "files cannot be read here");
    if ((size_t)(colon - spec) >= sizeof file) return wrong(err, v, "the file name is too long");
    snprintf(file, sizeof file, "%.*s", (int)(colon - spec), spec);
    carom_error why = {0};
    char *text = s->def.read_file(s->def.read_user, file, &why);
    if (!text) return carom_fail(err, CAROM_IO, "`vary %.60s`: %.500s", v->name, why.text);
    const carom_status status = column(v, text, file, colon + 1, err);
    free(text);
    return status;
}

static carom_status values(const carom_sweep *s, varied *v, const char *spec, carom_error *err) {
    static const struct {
        const char *word;
        bool second;
        carom_status (*read)(varied *v, const char *text, bool second, carom_error *err);
    } kinds[] = {{"log:", true, range}, {"uniform:", false, sample}, {"normal:", true, sample}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strncmp(spec, kinds[i].word, strlen(kinds[i].word)) == 0)
            return kinds[i].read(v, spec + strlen(kinds[i].word), kinds[i].second, err);
    const char *colon = strrchr(spec, ':');
    if (colon && colon - spec > 4 && strncmp(colon - 4, ".csv", 4) == 0) return from_file(s, v, spec, colon, err);
    if (!*spec) return wrong(err, v, "there are no values");
    return colon ? range(v, spec, false, err) : list(v, spec, err);
}

// -- names --------------------------------------------------------------------------------------------------------

static const char *known_name(const void *user, int i) {
    const carom_model *m = user;
    const int np = carom_model_count(m).parameters, nq = carom_model_count(m).coordinates;
    if (i >= np + nq) return NULL;
    return i < np                           ? carom_model_parameter(m, i, NULL)
           : carom_model_hidden(m, i - np)  ? ""
                                            : carom_model_coordinate(m, i - np);
}

bool carom_vary_find(const carom_model *m, const char *name, varied_kind *kind, int *index) {
    const carom_system *sys = carom_model_system(m);
    for (int i = 0; i < carom_model_count(m).parameters; ++i)
        if (strcmp(carom_model_parameter(m, i, NULL), name) == 0) return *kind = VARY_PARAMETER, *index = i, true;
    for (int i = 0; i < sys->nq; ++i)
        if (!carom_model_hidden(m, i) && strcmp(carom_model_coordinate(m, i), name) == 0)
            return *kind = VARY_POSITION, *index = i, true;
    for (int i = 0; i < sys->nv; ++i)
        if (!carom_model_presses(m, i) && strcmp(carom_model_velocity(m, i), name) == 0)
            return *kind = VARY_RATE, *index = i, true;
    return false;
}

carom_status carom_vary_unknown(const carom_model *m, const char *setting, const char *name, carom_error *err) {
    const char *near = carom_nearest(name, known_name, m);
    return carom_fail(err, CAROM_BAD_INPUT, "%s%sthe model has no parameter, coordinate or rate '%.60s'%s%s%s",
                      setting ? setting : "", setting ? ": " : "", name,
                      near ? "; did you mean '" : "; `carom info` lists them", near ? near : "", near ? "'?" : "");
}

// (SW-3)  A body with `exists while` comes with the velocity of the model, whatever the sweep starts with.
static carom_status check_comes(const varied *v, carom_error *err) {
    const carom_model *m = v->model;
    for (int i = 0; i < m->condition.n && v->kind == VARY_RATE; ++i) {
        const body *b = m->condition.list[i].body < 0 ? NULL : &m->bodies[m->condition.list[i].body];
        if (b && b->v >= 0 && v->index >= b->v && v->index < b->v + (b->space == SPATIAL ? 6 : 3))
            return carom_fail(err, CAROM_BAD_INPUT,
                              "`vary %.60s`: '%.60s' has `exists while`, and comes with the velocity that the model "
                              "gives it; write a parameter there, and vary that",
                              v->name, m->condition.list[i].name);
    }
    return CAROM_OK;
}

static carom_status name_it(varied *v, carom_error *err) {
    if (strncmp(v->name, "option.", 7) == 0) return v->kind = VARY_OPTION, CAROM_OK;
    return carom_vary_find(v->model, v->name, &v->kind, &v->index)
               ? check_comes(v, err)
               : carom_vary_unknown(v->model, "`vary`", v->name, err);
}

carom_status carom_vary_read(carom_sweep *s, varied *v, const char *text, carom_error *err) {
    const char *sign = strchr(text, '=');
    if (!sign || sign == text)
        return carom_fail(err, CAROM_BAD_INPUT, "`vary %.100s`: write NAME=SPEC, for instance mu=0:0.5:11", text);
    v->name = malloc((size_t)(sign - text) + 1);
    if (!v->name) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    memcpy(v->name, text, (size_t)(sign - text));
    v->name[sign - text] = 0;
    v->model = s->model;
    CAROM_TRY(name_it(v, err));
    return values(s, v, sign + 1, err);
}

void carom_vary_free(varied *v) {
    for (long i = 0; v->word && i < v->n; ++i) free(v->word[i]);
    free(v->word);
    free(v->value);
    free(v->name);
}
