// text.c: files and sentences.
#define _XOPEN_SOURCE 700
#include "cli/cli.h"
#include "base/option.h"
#include "io/recording.h"
#include "io/table.h"
#include "mech/datum.h"
#include "sim/sim.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_MODEL = 64 << 20 }; // bytes: a safeguard against files that are no model

char *cli_load_file(const char *file, size_t *length, carom_error *err) {
    return whole_read(file, MOST_MODEL, length, err);
}

char *cli_read_file(const char *file, size_t *length) {
    carom_error err = {0};
    char *text = cli_load_file(file, length, &err);
    if (!text) cli_say("%s", err.text);
    return text;
}

char *cli_rename(const char *file, const char *const *endings, const char *ending) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t n = strlen(base);
    for (int i = 0; endings[i]; ++i) {
        if (!carom_ends(base, endings[i]) || strlen(endings[i]) >= n) continue;
        n -= strlen(endings[i]);
        break;
    }
    char *name = malloc(n + strlen(ending) + 1);
    if (!name) abort();
    memcpy(name, base, n);
    strcpy(name + n, ending);
    return name;
}

const char *cli_suggest(char *buffer, size_t size, const char *word, const char *(*next)(const void *user, int i),
                        const void *user) {
    const char *near = carom_nearest(word, next, user);
    if (near) snprintf(buffer, size, "; did you mean '%s'?", near);
    else buffer[0] = 0;
    return buffer;
}

void cli_matrices_free(cli_matrices *m) {
    for (int i = 0; i < m->n; ++i) {
        free((void *)(size_t)m->list[i].name);
        free((void *)(size_t)m->list[i].text);
    }
    free(m->list);
    *m = (cli_matrices){0};
}

// -- files that a model names -----------------------------------------------------------------------------------------

static void add_text(cli_matrices *m, const char *name, char *text, size_t length) {
    m->list = realloc(m->list, ((size_t)m->n + 2) * sizeof *m->list);
    if (!m->list) abort();
    carom_matrix_text *t = &m->list[m->n++];
    *t = (carom_matrix_text){.name = strdup(name), .text = text, .length = length};
    t->file = t->name;
    if (!t->name) abort();
}

// A file that can be looked into; a pipe would keep us waiting, and be empty the second time.
static FILE *open_regular(const char *file) {
    struct stat about;
    return stat(file, &about) == 0 && S_ISREG(about.st_mode) ? fopen(file, "rb") : NULL;
}

static bool files_of_model(const char *file, cli_matrices *m) {
    if (!file || carom_result_probe(file)) return true;
    size_t length = 0;
    FILE *f = open_regular(file); // that it cannot be read is said elsewhere; a pipe has no files beside it
    if (!f) return true;
    fclose(f);
    char *text = cli_read_file(file, &length);
    if (!text) return false;
    carom_error err = {0};
    const bool good = carom_model_files(text, length, file, &m->list, &m->n, &err) == CAROM_OK;
    if (!good) cli_say_at("%s", err.text);
    free(text);
    return good;
}

// NAME=FILE.csv of an input that follows one; a file is read once.
static bool signal_file(cli_matrices *m, const char *setting) {
    const char *file = strchr(setting, '=');
    if (!file || !carom_ends(file + 1, ".csv")) return true;
    for (int i = 0; i < m->n; ++i)
        if (strcmp(m->list[i].name, file + 1) == 0) return true;
    size_t length = 0;
    char *text = cli_read_file(file + 1, &length);
    if (text) add_text(m, file + 1, text, length);
    return text != NULL;
}

static bool signal_files(const cli_args *a, cli_matrices *m) {
    const char **set = cli_list(a, "set");
    bool good = true;
    for (int i = 0; set[i] && good; ++i) good = signal_file(m, set[i]);
    free(set);
    return good;
}

bool cli_signal_files(cli_source *s, const char *settings) {
    char *own = strdup(settings);
    if (!own) abort();
    const char **each = cli_split(own, ',');
    bool good = true;
    for (int i = 0; each[i] && good; ++i) good = signal_file(&s->matrices, each[i]);
    free(each), free(own);
    s->def.matrices = s->matrices.list, s->def.nmatrices = s->matrices.n;
    return good;
}

static const char *input_name(const void *mech, int i) {
    return i < ((const carom_mech *)mech)->ninputs ? ((const carom_mech *)mech)->inputs[i].name.text : NULL;
}

// --input is for inputs; a model that cannot be read is refused elsewhere.
static bool inputs_are_there(const cli_args *a) {
    const char **given = cli_list(a, "input");
    bool some = false; // inputs of an FMU have no signals
    for (const cli_option *o = a->verb->options; given[0] && o->name; ++o)
        some = some || (strcmp(o->name, "input") == 0 && strchr(o->value, '='));
    size_t length = 0;
    carom_error err;
    char *text = some && !carom_result_probe(a->word[0]) ? cli_read_file(a->word[0], &length) : NULL;
    carom_mech *x = text ? carom_mech_read(text, length, a->word[0], &err) : NULL;
    bool good = true;
    for (int i = 0; x && given[i] && good; ++i) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(given[i], "="), given[i]);
        if (!strchr(given[i], '=')) {
            cli_say("--input %s: write NAME=SIGNAL", given[i]);
            good = false;
            break;
        }
        for (int k = good = false; k < x->ninputs && !good; ++k) good = strcmp(x->inputs[k].name.text, name) == 0;
        const char *near = carom_nearest(name, input_name, x);
        if (good) continue;
        if (carom_datum_get(&x->parameters, name))
            cli_say("--input %s: '%s' is a parameter of the model; give --set %s", given[i], name, given[i]);
        else if (x->ninputs == 0) cli_say("--input %s: the model has no `inputs` section", given[i]);
        else
            cli_say("--input %s: the model has no input '%s'; %s%s%s", given[i], name,
                    near ? "did you mean '" : "`carom info` lists them", near ? near : "", near ? "'?" : "");
    }
    carom_mech_destroy(x);
    free(text), free(given);
    return good;
}

bool cli_matrices_read(const cli_args *a, cli_matrices *m) {
    const char **given = cli_list(a, "matrix");
    const int n = carom_list_length(given);
    *m = (cli_matrices){.list = calloc((size_t)n + 1, sizeof *m->list)};
    if (!m->list) abort();
    bool good = inputs_are_there(a);
    for (int i = 0; good && i < n; ++i) {
        const char *equals = strchr(given[i], '=');
        carom_matrix_text *t = &m->list[i];
        if (!equals || equals == given[i] || !equals[1]) {
            cli_say("--matrix: '%s' is not NAME=FILE", given[i]);
            good = false;
            break;
        }
        t->name = strndup(given[i], (size_t)(equals - given[i]));
        if (!t->name) abort();
        t->file = equals + 1;
        m->n = i + 1;
        t->text = cli_read_file(t->file, &t->length);
        good = t->text != NULL;
    }
    free(given);
    good = good && files_of_model(a->word[0], m) && signal_files(a, m);
    if (!good) cli_matrices_free(m);
    return good;
}

bool cli_source_read(cli_source *s, const cli_args *a) {
    *s = (cli_source){.set = cli_settings(a), .options = cli_list(a, "option")};
    s->text = cli_read_file(a->word[0], &s->def.length);
    if (!s->text || !cli_matrices_read(a, &s->matrices)) return false;
    s->def.file = a->word[0], s->def.text = s->text, s->def.set = s->set, s->def.matrices = s->matrices.list,
    s->def.nmatrices = s->matrices.n;
    return true;
}

static bool make_model(cli_source *s) {
    carom_error err = {0};
    s->model = carom_model_create(&s->def, &err);
    if (!s->model) cli_say_at("%s", err.text); // starts with file:line:column
    return s->model != NULL;
}

bool cli_source_model(cli_source *s, const cli_args *a) { return cli_source_read(s, a) && make_model(s); }

bool cli_source_read_pairs(cli_source *s, const cli_args *a) {
    if (!cli_source_read(s, a)) return false;
    s->def.pairs = true;
    return true;
}

bool cli_source_pairs(cli_source *s, const cli_args *a) { return cli_source_read_pairs(s, a) && make_model(s); }

bool cli_source_start(cli_source *s, const cli_args *a) {
    const char *file = cli_value(a, "start");
    if (!file) return true;
    carom_error err = {0};
    carom_model *m = s->model ? s->model : carom_model_create(&s->def, &err);
    if (!m) return cli_say("%s", err.text), false;
    s->start = cli_state(m, file);
    if (s->start) s->signals = s->start + carom_model_system(m)->nq + carom_model_system(m)->nv;
    if (m != s->model) carom_model_destroy(m);
    return s->start != NULL;
}

void cli_source_free(cli_source *s) {
    carom_model_destroy(s->model);
    cli_matrices_free(&s->matrices);
    free(s->set), free(s->options), free(s->text), free(s->start);
}

carom_run_given cli_run_given(const cli_args *a) {
    carom_run_given given = carom_run_nothing();
    given.scheme = cli_value(a, "scheme");
    return given;
}

int cli_exit(carom_status status) {
    const bool usage = status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED || status == CAROM_IO;
    return status == CAROM_OK ? CLI_DONE : status == CAROM_STOPPED ? CLI_INTERRUPTED : usage ? CLI_USAGE : CLI_FAILED;
}

bool cli_compile_mode(const cli_args *a, carom_compile_mode *mode) {
    const char *word = cli_has(a, "compile") ? cli_value(a, "compile") : "auto";
    if (carom_compile_mode_find(word, mode)) return true;
    return cli_say("--compile: expected auto, on or off, got '%s'", word), false;
}

bool cli_compile(carom_model *m, carom_compile_mode mode, double evaluations) {
    carom_error err;
    if (carom_model_compile(m, mode, evaluations, NULL, &err) == CAROM_OK) return true;
    return cli_say("--compile on: %s", err.text), false;
}

carom_model *cli_model(const char *file, const char *const *set, const carom_matrix_text *matrices, int nmatrices,
                       char **text, size_t *length) {
    *text = cli_read_file(file, length);
    if (!*text) return NULL;
    carom_error err = {0};
    const carom_model_def def = {
        .text = *text, .length = *length, .file = file, .set = set, .matrices = matrices, .nmatrices = nmatrices};
    carom_model *model = carom_model_create(&def, &err);
    if (!model) {
        cli_say_at("%s", err.text); // starts with file:line:column
        free(*text);
        *text = NULL;
    }
    return model;
}

// file:line:column
static bool names_file(const char *text, const char *file) {
    return strncmp(text, file, strlen(file)) == 0 && text[strlen(file)] == ':';
}

void cli_say_of(const char *file, const char *text) {
    if (names_file(text, file)) cli_say("%s", text);
    else cli_say("%s: %s", file, text);
}

void cli_say_best(const cli_args *a, const char *text, bool best) {
    const bool named = names_file(text, a->word[0]), saved = best && cli_has(a, "save");
    cli_say("%s%s%s%s%s", named ? "" : a->word[0], named ? "" : ": ", text,
            saved ? "; the best state so far is in " : "", saved ? cli_value(a, "save") : "");
}

// A text with a line `carom: ...`.
static bool holds_model(const char *file) {
    char line[256] = "";
    FILE *f = open_regular(file);
    bool model = false;
    for (int i = 0; i < 1000 && f && !model && fgets(line, sizeof line, f); ++i)
        model = strncmp(line, "carom:", 6) == 0;
    if (f) fclose(f);
    return model;
}

const char *cli_signal_name(const carom_model *m, int i) {
    return carom_model_signal(m, carom_model_system(m)->signals->nset + i);
}

bool cli_signal_shown(const carom_model *m, int i) {
    for (int k = 0; k < i; ++k)
        if (strcmp(cli_signal_name(m, k), cli_signal_name(m, i)) == 0) return false;
    return true;
}

double *cli_state(const carom_model *m, const char *file) {
    if (!carom_result_probe(file) && holds_model(file))
        return cli_say("%s is a model, not a state; `carom equilibrium --save FILE` and `carom run` write states",
                       file),
               NULL;
    const carom_system *s = carom_model_system(m);
    double *x = calloc((size_t)s->nq + (size_t)s->nv + (size_t)s->signals->ni + 1, sizeof *x);
    if (!x) abort();
    carom_error err = {0};
    if (carom_state_read(m, file, x, x + s->nq, &err) == CAROM_OK &&
        carom_state_signals(m, file, x + s->nq + s->nv, &err) == CAROM_OK)
        return x;
    cli_say("%s", err.text);
    free(x);
    return NULL;
}

// Is option `text` ("key=value") one that the scheme takes?
static bool takes(const carom_scheme *s, const char *text) {
    const size_t length = strcspn(text, "=");
    double value = 0;
    int i = carom_option_find(s->options, text, length);
    const carom_option *o = i >= 0 ? s->options + i : NULL;
    if (!o && (i = carom_option_find(carom_common_options, text, length)) >= 0) o = carom_common_options + i;
    return o && carom_option_read(o, text + length + 1, &value, NULL) == CAROM_OK;
}

const char *cli_blame(const carom_model *m, bool named, carom_status failure) {
    const carom_model_run run = carom_model_simulation(m);
    if (!named || !run.scheme) return NULL;
    const carom_scheme *s = carom_schemes_find(run.scheme);
    if (!s) return run.scheme_place;
    for (int i = 0; run.options && run.options[i]; ++i)
        if (!takes(s, run.options[i])) return run.option_places[i];
    return failure == CAROM_UNSUPPORTED ? run.scheme_place : NULL;
}

bool cli_wants_model(const char *file) {
    if (!carom_result_probe(file)) return false;
    const char *what = carom_table_probe(file, "runs")     ? "sweep"
                       : carom_table_probe(file, "branch") ? "branch"
                                                           : "result";
    cli_say("%s is a %s, not a model; use `carom info %s` or `carom plot %s`", file, what, file, file);
    return true;
}

bool cli_wants_result(const char *file) {
    const bool model =
        !carom_result_probe(file) &&
        (holds_model(file) || ((carom_ends(file, ".yaml") || carom_ends(file, ".yml")) && access(file, R_OK) == 0));
    if (model) cli_say("%s is a model, not a result; run `carom run %s` first", file, file);
    return model;
}

// Tables as text begin with the name of their first column.
static bool begins(const char *file, const char *column) {
    char head[16] = "";
    const size_t n = strlen(column);
    FILE *f = carom_ends(file, ".csv") ? open_regular(file) : NULL;
    const bool same = f && fread(head, 1, n, f) == n && strcmp(head, column) == 0;
    if (f) fclose(f);
    return same;
}

bool cli_wants_sweep(const char *file) {
    if (carom_table_probe(file, "runs") || begins(file, "run,")) return false;
    if (carom_table_probe(file, "branch") || begins(file, "branch,")) cli_say("%s is a branch, not a sweep", file);
    else if ((!carom_ends(file, ".csv") && carom_result_probe(file)) || begins(file, "t,"))
        cli_say("%s is a result, not a sweep", file);
    else cli_say("%s is not a sweep", file);
    return true;
}

bool cli_begin(whole_file *w, const char *file) {
    carom_error err = {0};
    return whole_open(w, file, &err) == CAROM_OK || (cli_say("%s", err.text), false);
}

bool cli_end(whole_file *w, bool good) {
    carom_error err = {0};
    return whole_close(w, good, &err) == CAROM_OK || (cli_say("%s", err.text), false);
}

bool cli_writable(const char *file) {
    struct stat about;
    whole_file w;
    if (!file || strcmp(file, "-") == 0) return true;
    // to open a pipe is to wait for its reader
    if (stat(file, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return true;
    return cli_begin(&w, file) && cli_end(&w, false);
}
