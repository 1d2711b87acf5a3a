// lanes_write.c: a sweep as one text.
#include "base/dormand.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/tolerance.h"
#include "expr/native.h"
#include "model/answers.h"
#include "model/model.h"
#include "scheme/half_explicit/half_explicit_rk.h"
#include "sweep/lanes.h"
#include "sweep/lanes_members.h"
#include "system/system.h"
#include <carom/event.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- may it run in lanes? ---------------------------------------------------------------------------------------------

static carom_status check_scheme(const carom_lanes *l, carom_error *err) {
    char names[300] = "";
    if (l->run.table && l->run.table->lanes) return CAROM_OK;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        const size_t used = strlen(names);
        if ((*s)->lanes) carom_format(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*s)->name);
    }
    return carom_fail(err, CAROM_BAD_INPUT, "lanes do not support the scheme %.60s; those that run in lanes are %s",
                      l->run.scheme, names);
}

// Is the option given once more?  The last one counts.
static bool given_again(const char *const *rest, const char *text) {
    const size_t n = strcspn(text, "=") + 1;
    for (; *rest; ++rest)
        if (strncmp(*rest, text, n) == 0) return true;
    return false;
}

static const double DIRECT = 1e-12, ACCEPT = 1e-8; // tol and accept of direct solvers, unless tol is given

// Options of scheme and solver: those that lanes know.
static carom_status read_options(carom_lanes *l, carom_error *err) {
    static const char *const same[] = {
        "local=exact", "active=current", "closed=tolerant", "adaptive=off", "solver=auto", "impulsive-step=1", NULL};
    static const char *const free_of[] = {"identity=", "accept=", NULL}; // they do not change what lanes compute
    l->order = 3;
    l->theta = 0.5, l->tol = l->newton_tol = DIRECT, l->accept = ACCEPT;
    for (int i = 0; l->run.options && l->run.options[i]; ++i) {
        const char *text = l->run.options[i], *value = strchr(text, '=');
        bool known = given_again(l->run.options + i + 1, text);
        char *rest = NULL;
        if (known) continue;
        if (strncmp(text, "theta=", 6) == 0 && l->run.table->lanes == CAROM_LANE_MOREAU_JEAN)
            l->theta = carom_number(value + 1, &rest), known = true;
        if (strncmp(text, "order=", 6) == 0 && l->run.table->lanes == CAROM_LANE_HALF_EXPLICIT_RK)
            l->order = (int)carom_number(value + 1, &rest), known = true;
        if (strncmp(text, "sets=", 5) == 0 && l->run.table->lanes == CAROM_LANE_HALF_EXPLICIT_RK)
            l->by_stage = strcmp(value, "=stage") == 0, known = true;
        if (strncmp(text, "tol=", 4) == 0) l->tol = l->accept = carom_number(value + 1, &rest), known = true;
        if (strncmp(text, "newton-tol=", 11) == 0) l->newton_tol = carom_number(value + 1, &rest), known = true;
        if (strncmp(text, "forces=", 7) == 0 && l->run.table->lanes == CAROM_LANE_MOREAU_EXPLICIT)
            l->forces_at_end = strcmp(value, "=end") == 0, known = true;
        for (int k = 0; same[k]; ++k) known = known || strcmp(text, same[k]) == 0;
        for (int k = 0; free_of[k]; ++k) known = known || strncmp(text, free_of[k], strlen(free_of[k])) == 0;
        if (!known) return carom_fail(err, CAROM_BAD_INPUT, "lanes do not support the option %.100s", text);
    }
    return CAROM_OK;
}

static carom_status read_vary(const carom_sweep *s, carom_lanes *l, carom_error *err) {
    l->vary = calloc((size_t)s->nvary + 1, sizeof *l->vary);
    if (!l->vary) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for lanes");
    for (int i = 0; i < s->nvary; ++i) {
        const varied *v = &s->vary[i];
        if (v->kind == VARY_OPTION)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "lanes do not support `vary %.60s`: options are the same in all of them", v->name);
        const carom_lane_kind kind = v->kind == VARY_PARAMETER  ? CAROM_LANE_PARAMETER
                                     : v->kind == VARY_POSITION ? CAROM_LANE_POSITION
                                                                : CAROM_LANE_RATE;
        l->vary[i] = (carom_lane_value){kind, v->index, NULL};
    }
    return CAROM_OK;
}

// The mechanism with the values of one run (-1: with its own) as a model whose pairs of shapes have expressions of
// their own.
static carom_model *model_with(const carom_sweep *s, const carom_mech *mech, const char *const *observe, long run,
                               carom_error *err) {
    carom_model *m = carom_model_apart(mech, observe, false, true, "observe", err);
    double *value = calloc((size_t)s->nvary + 1, sizeof *value), *x = calloc((size_t)s->nvary + 1, sizeof *x);
    int *index = calloc((size_t)s->nvary + 1, sizeof *index), n = 0;
    carom_status status = !m                    ? err->code
                          : value && x && index ? CAROM_OK
                                                : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for lanes");
    if (status == CAROM_OK && run >= 0) {
        carom_sweep_values(s, run, value);
        for (int i = 0; i < s->nvary; ++i)
            if (s->vary[i].kind == VARY_PARAMETER) index[n] = s->vary[i].index, x[n++] = value[i];
        status = carom_model_set(m, n, index, x, NULL, err);
    }
    free(value), free(x), free(index);
    if (status == CAROM_OK) return m;
    carom_model_destroy(m);
    return NULL;
}

// The expression of a datum, with numbers for the indices of its family; NULL: no memory.
static char *spell(const carom_datum *d) {
    static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.'";
    const size_t room = 12 * d->length + 1; // an index is at least one letter
    char *text = malloc(room), *to = text;
    for (const char *c = d->text; text && *c;) {
        const size_t n = strspn(c, WORD);
        int i = 0;
        while (d->indices && i < d->indices->n &&
               !(strlen(d->indices->name[i]) == n && strncmp(d->indices->name[i], c, n) == 0))
            ++i;
        const bool index = n > 0 && d->indices && i < d->indices->n;
        to += index ? snprintf(to, room - (size_t)(to - text), "%d", d->indices->at[i])
                    : snprintf(to, room - (size_t)(to - text), "%.*s", n > 0 ? (int)n : 1, c);
        c += n > 0 ? n : 1;
    }
    if (text) *to = '\0';
    return text;
}

// That of one run; besides what is observed it has the expressions of what may depend on parameters.
static carom_model *model_at(const carom_sweep *s, long run, carom_error *err) {
    const carom_mech *mech = s->model->mech;
    carom_model *m = model_with(s, mech, s->observe, run, err);
    if (!m || carom_lanes_parts(m, err) != CAROM_OK) return carom_model_destroy(m), NULL;
    const int count = carom_lane_values(m, NULL, 0);
    size_t n = 0;
    while (s->observe[n]) ++n;
    const char **observe = calloc(n + (size_t)count + 1, sizeof *observe);
    carom_lane_value *list = calloc((size_t)count + 1, sizeof *list);
    carom_model *whole = NULL;
    if (observe && list) {
        carom_lane_values(m, list, count);
        for (size_t i = 0; i < n; ++i) observe[i] = s->observe[i];
        const size_t own = n;
        for (int i = 0; i < count && (observe[n] = spell(list[i].from)); ++i) ++n;
        if (n == own + (size_t)count)
            whole = model_with(s, mech, observe, run, err);
        else
            carom_fail(err, CAROM_NO_MEMORY, "not enough memory for lanes");
        while (n > own) free((void *)observe[--n]);
    } else {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for lanes");
    }
    free(observe), free(list);
    carom_model_destroy(m);
    return whole;
}

static int rows_of(const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    int n = 0;
    for (int id = 0; id < sys->ne + sys->nc; ++id) n += carom_system_directions(sys, id);
    return n;
}

// With the model's own values, or those of the first or the last run, if that has more friction: without friction a
// contact has no directions of slip.
static carom_status make_model(const carom_sweep *s, carom_lanes *l, carom_error *err) {
    const long runs[] = {-1, 0, s->runs - 1};
    for (int i = 0; i < 3; ++i) {
        carom_error other;
        carom_model *m = model_at(s, runs[i], i ? &other : err);
        const bool better = m && (!l->model || rows_of(m) > rows_of(l->model));
        carom_model_destroy(better ? l->model : m);
        if (better) l->model = m;
        if (!l->model) return err->code;
    }
    return CAROM_OK;
}

// When the last run ends at the latest; as plan() of the text has it.
static double longest(const carom_sweep *s, const carom_lanes *l) {
    return fmax(s->def.count > 0 ? s->def.transient + 1000 * l->run.end : l->run.end, s->def.transient);
}

static carom_status create(const carom_sweep *s, carom_lanes *l, carom_error *err) {
    if (s->def.follow != CAROM_FOLLOW_NONE)
        return carom_fail(err, CAROM_BAD_INPUT, "lanes do not support `follow`, because its runs depend on each other");
    if (s->def.run.adaptive)
        return carom_fail(err, CAROM_BAD_INPUT, "lanes do not support `adaptive`: all of them take the same steps");
    CAROM_TRY(carom_run_resolve(&l->run, s->model, &s->def.run, err));
    CAROM_TRY(check_scheme(l, err));
    CAROM_TRY(read_options(l, err));
    CAROM_TRY(read_vary(s, l, err));
    CAROM_TRY(carom_lanes_size(s->model, err)); // before all pairs of a large world are written
    CAROM_TRY(make_model(s, l, err));
    l->request = (carom_lane_request){.vary = l->vary,
                                      .nvary = s->nvary,
                                      .nobserve = s->nobserve,
                                      .jean = l->run.table->lanes == CAROM_LANE_MOREAU_JEAN,
                                      .h = l->run.step,
                                      .until = longest(s, l),
                                      .beside = !l->run.table->impulses,
                                      .step = isnan(s->def.run.step),
                                      .end = isnan(s->def.run.end),
                                      .section = s->section.kind == SECTION_EVERY      ? CAROM_LANES_PERIOD
                                                 : s->section.kind == SECTION_CROSSING ? CAROM_LANES_CROSSING
                                                                                       : CAROM_LANES_PLAIN};
    return carom_lanes_check(l->model, &l->request, err);
}

void carom_lanes_destroy(carom_lanes *l) {
    if (!l) return;
    if (l->code) dlclose(l->code);
    carom_model_destroy(l->model);
    carom_run_free(&l->run);
    free(l->vary);
    free(l);
}

carom_status carom_lanes_create(const carom_sweep *s, carom_lanes **lanes, carom_error *err) {
    carom_lanes *l = calloc(1, sizeof *l);
    if (!l) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for lanes");
    const carom_status status = create(s, l, err);
    if (status == CAROM_OK)
        *lanes = l;
    else
        carom_lanes_destroy(l);
    return status;
}

// -- text -------------------------------------------------------------------------------------------------------------

typedef struct sheet {
    carom_write_text *write;
    void *user;
} sheet;

static void put(const sheet *t, const char *text) { t->write(t->user, text, strlen(text)); }

static void put_number(const sheet *t, const char *name, double x) {
    char number[CAROM_NUMBER_TEXT];
    carom_native_number(x, number);
    PUT(t, "#define %s %s\n", name, number);
}

// The table of half-explicit-rk: rows of its stages, then its weights, and their sums.
static void put_stages(const sheet *t, const carom_lanes *l) {
    const bool stages = l->run.table->lanes == CAROM_LANE_HALF_EXPLICIT_RK;
    const carom_rk_table *T = stages ? carom_rk_find(l->order) : NULL;
    char number[CAROM_NUMBER_TEXT];
    PUT(t, "enum { STAGES = %d, BY_STAGE = %d };\n", T ? T->stages : 0, l->by_stage);
    put_number(t, "DRIFT", T ? CAROM_RK_DRIFT : 0);
    if (!T) return;
    put(t, "CONSTANT double RK[][STAGES] = {");
    for (int i = 0; i <= T->stages; ++i) {
        put(t, "{");
        for (int k = 0; k < T->stages; ++k) {
            carom_native_number(k >= i ? 0 : carom_rk_entry(T, i, k), number);
            PUT(t, "%s, ", number);
        }
        put(t, "}, ");
    }
    put(t, "};\nCONSTANT double RK_C[] = {");
    for (int i = 0; i <= T->stages; ++i) {
        carom_native_number(carom_rk_place(T, i), number);
        PUT(t, "%s, ", number);
    }
    put(t, "};\n");
}

static void put_settings(const sheet *t, const carom_sweep *s, const carom_lanes *l) {
    static const char *const kinds[] = {
        [SECTION_NONE] = "NONE", [SECTION_EVERY] = "EVERY", [SECTION_CROSSING] = "CROSS", [SECTION_IMPACT] = "IMPACT"};
    static const char fixed[] = "enum { NONE, EVERY, CROSS, IMPACT };\n#define GROWN 1e100\n"
                                "#define SETTLED 4\n#define NEWTON_MOST 50\n";
    const bool impacts = s->section.kind == SECTION_IMPACT || carom_lanes_observe(l->model, &l->request, "impacts");
    PUT(t, "#define MOREAU_MIDPOINT %d\n#define MOREAU_EXPLICIT %d\n#define HALF_EXPLICIT %d\n#define MOREAU_JEAN %d\n",
        CAROM_LANE_MOREAU_MIDPOINT, CAROM_LANE_MOREAU_EXPLICIT, CAROM_LANE_HALF_EXPLICIT, CAROM_LANE_MOREAU_JEAN);
    PUT(t, "#define HALF_EXPLICIT_RK %d\n", CAROM_LANE_HALF_EXPLICIT_RK);
    put_stages(t, l);
    put(t, fixed);
    PUT(t,
        "#define SCHEME %d\n#define FORCES_AT_END %d\n#define SECTION %s\n#define CROSSES %d\n#define DIRECTION %d\n",
        l->run.table->lanes, l->forces_at_end, kinds[s->section.kind], s->section.kind == SECTION_CROSSING,
        s->section.direction);
    put(t, "CONSTANT char STRIKES[] = {"); // contacts of the section
    for (int c = 0; c < carom_model_count(l->model).contacts; ++c)
        PUT(t, "%d, ", impacts && carom_model_contact_is(l->model, s->section.contact, c));
    put(t, "0};\n");
    PUT(t, "#define COUNT %ld\n#define IMPACTS (%d || NREACTING)\n#define PENETRATION %d\n", s->def.count, impacts,
        carom_lanes_observe(l->model, &l->request, "penetration"));
    put_number(t, "INSTANT", CAROM_INSTANT);
    put_number(t, "QUOTIENT", CAROM_QUOTIENT);
    put_number(t, "THETA", l->theta);
    put_number(t, "TOL", l->tol);
    put_number(t, "ACCEPT", l->accept);
    put_number(t, "NEWTON_TOL", l->newton_tol);
    put_number(t, "STEP", l->run.step);
    put_number(t, "END", l->run.end);
    put_number(t, "TRANSIENT", s->def.transient);
}

// What texts over a type need, for single numbers; what exact beams are told.
static void put_scalar(const sheet *t) {
    put(t, "typedef int carom_status;\n#define CAROM_OK 0\n"
           "#define CAROM_TRY(x) do { const int status_ = (x); if (status_ != CAROM_OK) return status_; } while (0)\n");
    put(t, carom_scalar_text);
    put(t, carom_rules_text);
    PUT(t, "#define CAROM_EXCUSED %.17g\n", CAROM_EXCUSED);
    put(t, carom_natural_text);
    put(t, "#undef real\n#undef T\ntypedef struct carom_member { double l, section[3], damping_stiffness; } "
           "carom_member;\n");
}

// The step of the scheme, over the functions PREFIX_name.
static void put_step(const sheet *t, const carom_lanes *l, const char *prefix) {
    static const char *const text[] = {[CAROM_LANE_MOREAU_MIDPOINT] = carom_moreau_midpoint_text,
                                       [CAROM_LANE_MOREAU_EXPLICIT] = carom_moreau_explicit_text,
                                       [CAROM_LANE_HALF_EXPLICIT] = carom_half_explicit_text,
                                       [CAROM_LANE_HALF_EXPLICIT_RK] = carom_half_explicit_rk_text};
    PUT(t, "\n#undef ASK\n#define ASK(name) %s\n", prefix);
    if (!text[l->run.table->lanes]) return;
    put(t, carom_lanes_asked);
    put(t, text[l->run.table->lanes]);
}

// flight: a step in flight, too.
static carom_status put_typed(const sheet *t, const carom_lanes *l, const char *real, char letter, bool flight,
                              carom_error *err) {
    PUT(t, "\n#define real %s\n#define T(name) %c_##name\n", real, letter);
    put(t, carom_lanes_math);
    put(t, carom_turn_text);
    put(t, carom_lift_text);
    if (carom_lane_member_exact(l->model)) put(t, carom_exact_beam_text);
    CAROM_TRY(carom_lanes_write(l->model, &l->request, CAROM_LANES_TYPED, t->write, t->user, err));
    put(t, carom_lanes_free);
    if (flight) {
        put(t, carom_lanes_flight);
        put_step(t, l, "T(fly_##name)");
        put(t, carom_lanes_free_step);
    }
    put(t, carom_lanes_average);
    return CAROM_OK;
}

// What the laws of impact are told, which the library has in headers.
static void put_laws(const sheet *t) {
#define TEXT(...) #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)
    PUT(t, "enum { CAROM_NEWTON = %d, CAROM_POISSON = %d, CAROM_ENERGETIC = %d, CAROM_FREMOND = %d };\n", CAROM_NEWTON,
        CAROM_POISSON, CAROM_ENERGETIC, CAROM_FREMOND);
    PUT(t, "#define ENERGETIC_ROWS %d\n#define CAROM_ESTIMATE %g\n", 1 + CAROM_TANGENTS, CAROM_ESTIMATE);
    put(t, "#define CAROM_DORMAND_A " TEXT_OF(CAROM_DORMAND_A) "\n");
    put(t, carom_energetic_text);
    put(t, carom_lanes_impacts);
    put(t, carom_impact_text);
}

static carom_status put_body(const sheet *t, const carom_lanes *l, carom_error *err) {
    CAROM_TRY(carom_lanes_write(l->model, &l->request, CAROM_LANES_SINGLE, t->write, t->user, err));
    put(t, carom_lanes_contact);
    if (carom_lanes_other_laws(l->model)) put_laws(t);
    put(t, carom_lanes_strike);
    put(t, carom_lanes_full);
    put_step(t, l, "full_##name");
    put(t, carom_lanes_signals);
    put(t, carom_lanes_step);
    put(t, carom_lanes_run);
    return CAROM_OK;
}

static carom_status put_c(const sheet *t, const carom_sweep *s, const carom_lanes *l, carom_error *err) {
    put(t, carom_lanes_head_c);
    put_scalar(t);
    put_settings(t, s, l);
    put(t, "enum { VECTORS = 64 / LANES };\n");
    CAROM_TRY(carom_lanes_write(l->model, &l->request, CAROM_LANES_TABLES, t->write, t->user, err));
    CAROM_TRY(put_typed(t, l, "V", 'V', true, err));
    // single systems are rare: the compiler may save its time
    put(t, "#undef real\n#undef T\n#undef DEVICE\n#define DEVICE static inline\n#define BY_VECTOR\n");
    CAROM_TRY(put_typed(t, l, "double", 'D', false, err));
    CAROM_TRY(put_body(t, l, err));
    put(t, carom_lanes_block_c);
    return CAROM_OK;
}

// -- CUDA: values and names are in the file ---------------------------------------------------------------------------

// Is the list a:b:n?
static bool is_range(const varied *v) {
    for (long i = 1; i + 1 < v->n; ++i) {
        const double s = (double)i / (double)(v->n - 1);
        if (v->value[i] != (1 - s) * v->value[0] + s * v->value[v->n - 1]) return false;
    }
    return true;
}

static carom_status put_values(const sheet *t, const carom_sweep *s, carom_error *err) {
    enum { MOST = 1000000 }; // a safeguard: the text of a compiler, 25 MB
    char a[CAROM_NUMBER_TEXT], b[CAROM_NUMBER_TEXT];
    for (int k = 0; k < s->nvary; ++k) {
        const varied *v = &s->vary[k];
        const bool range = is_range(v);
        if (!range && v->n > MOST)
            return carom_fail(
                err, CAROM_BAD_INPUT,
                "`vary %.60s` has %ld values that are not a range a:b:n; at most %d such values go into a file",
                v->name, v->n, MOST);
        if (range) {
            carom_native_number(v->value[0], a);
            carom_native_number(v->value[v->n - 1], b);
            PUT(t, "static double value_%d(long i) { return range(%s, %s, %ldL, i); }\n", k, a, b, v->n);
            continue;
        }
        PUT(t, "static const double list_%d[] = {\n", k);
        for (long i = 0; i < v->n; ++i) {
            carom_native_number(v->value[i], a);
            PUT(t, "%s,%s", a, i % 6 == 5 ? "\n" : " ");
        }
        PUT(t, "};\nstatic double value_%d(long i) { return list_%d[i]; }\n", k, k);
    }
    PUT(t, "static double (*const value_of[])(long) = {");
    for (int k = 0; k < s->nvary; ++k) PUT(t, "value_%d, ", k);
    PUT(t, "0};\nstatic const long number_of[] = {");
    for (int k = 0; k < s->nvary; ++k) PUT(t, "%ldL, ", s->vary[k].n);
    PUT(t, "0};\nstatic const long RUNS = %ldL;\nstatic const bool ZIP = %d;\n", s->runs, s->def.zip);
    return CAROM_OK;
}

static void put_names(const sheet *t, const char *name, int n, const char *(*of)(const carom_sweep *s, int i),
                      const carom_sweep *s) {
    PUT(t, "static const char *const %s[] = {", name);
    for (int i = 0; i < n; ++i) {
        put(t, "\"");
        carom_escape(CAROM_FOR_C_STRING, of(s, i), strlen(of(s, i)), t->write, t->user);
        put(t, "\", ");
    }
    put(t, "0};\n");
}

static carom_status put_cuda(const sheet *t, const carom_sweep *s, const carom_lanes *l, carom_error *err) {
    if (s->section.kind != SECTION_NONE && s->def.count == 0)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "a sweep with `section` needs `count` on a GPU, where room for its points is made before it starts");
    put(t, carom_lanes_head_cuda);
    put_scalar(t);
    put(t, "enum { THREADS = 128 };\n");
    put_settings(t, s, l);
    CAROM_TRY(carom_lanes_write(l->model, &l->request, CAROM_LANES_TABLES, t->write, t->user, err));
    put(t, "typedef struct sink { double *at; long n, run; } sink; // points by number, observed expression, run\n"
           "DEVICE void put_point(const sink *to, long index, double t, const double *observed) {\n"
           "    double *p = to->at + index * (1 + NOBSERVE) * to->n + to->run;\n    p[0] = t;\n"
           "    for (int i = 0; i < NOBSERVE; ++i) p[(1 + i) * to->n] = observed[i];\n}\n");
    CAROM_TRY(put_typed(t, l, "double", 'D', true, err));
    CAROM_TRY(put_body(t, l, err));
    put(t, "\nstatic double range(double a, double b, long n, long i) {\n"
           "    volatile double s = n > 1 ? (double)i / (double)(n - 1) : 0, x = (1 - s) * a, y = s * b;\n"
           "    return i == n - 1 ? b : i == 0 ? a : x + y;\n}\n");
    CAROM_TRY(put_values(t, s, err));
    put_names(t, "vary_name", s->nvary, carom_sweep_vary_name, s);
    put_names(t, "observe_name", s->nobserve, carom_sweep_observe_text, s);
    put(t, carom_lanes_block_cuda);
    return CAROM_OK;
}

carom_status carom_lanes_text(const carom_sweep *s, const carom_lanes *l, bool cuda, carom_write_text *write,
                              void *user, carom_error *err) {
    const sheet t = {write, user};
    return cuda ? put_cuda(&t, s, l, err) : put_c(&t, s, l, err);
}

carom_status carom_sweep_write_cuda(const carom_sweep *s, carom_write_text *write, void *user, carom_error *err) {
    carom_lanes *l = NULL;
    if (!s || !write) return carom_fail(err, CAROM_BAD_INPUT, "a sweep or a writer is missing");
    CAROM_TRY(carom_lanes_create(s, &l, err));
    const carom_status status = carom_lanes_text(s, l, true, write, user, err);
    carom_lanes_destroy(l);
    return status;
}
