// play.c: the engine of the page that `carom play` writes, as a program of its own: a model on standard input, a page
// or JSON on standard output. It needs no files, no threads and no library but libc and libyaml, so that it compiles to
// WebAssembly (page/wasm.sh); each call of the page is a fresh start.
//
//   check                                                   the model: name, parameters, scheme, step, end
//   run [scheme=S] [step=TIME] [end=TIME] [set:NAME=VALUE ...]  a run: the page of `carom view`, whose scripts and
//   styles are left as marks
//   schemes                                                 names and their lines
//
// A line on standard error is JSON: {"progress": 0.3} now and then, or {"wrong": sentence}.  Exit status as of the
// program: 1 the run failed (its page is written all the same), 2 the model or an argument is wrong.
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/number.h"
#include "cli/page.h"
#include "io/json.h"
#include <carom/run.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// chosen: names that a page may set; rows that it shows, for the memory of a browser
enum { DONE, FAILED, WRONG, MOST_SET = 256, MOST_ROWS = 4000 };

// What the page fills in.
const unsigned char page_js[] = "/*carom page.js*/", page_css[] = "/*carom page.css*/",
                    page_space_js[] = "/*carom space.js*/";
const size_t page_js_size = sizeof page_js - 1, page_css_size = sizeof page_css - 1,
             page_space_js_size = sizeof page_space_js - 1;

void cli_say(const char *format, ...) {
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs("{\"wrong\": ", stderr);
    carom_json_string(stderr, text);
    fputs("}\n", stderr);
}

static char *read_all(FILE *f, size_t *length) {
    size_t room = 1 << 16;
    char *text = malloc(room);
    *length = 0;
    while (text) {
        *length += fread(text + *length, 1, room - *length - 1, f);
        text[*length] = 0;
        if (*length < room - 1) return text;
        char *more = realloc(text, room *= 2);
        if (!more) free(text);
        text = more;
    }
    return NULL;
}

// -- check ------------------------------------------------------------------------------------------------------------

static void put_number(const char *name, double x) {
    printf(", \"%s\": ", name);
    carom_json_number(stdout, x);
}

static int check(const carom_model *m) {
    const carom_model_run given = carom_model_simulation(m);
    const char *name = carom_model_name(m);
    double value = 0;
    char unit[24];
    fputs("{\"name\": ", stdout);
    carom_json_string(stdout, name ? name : "");
    fputs(", \"scheme\": ", stdout);
    carom_json_string(stdout, given.scheme ? given.scheme : "");
    put_number("step", given.step);
    put_number("end", given.end);
    fputs(", \"parameters\": [", stdout);
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        name = carom_model_parameter(m, i, &value);
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        carom_json_string(stdout, name);
        put_number("value", value);
        if (carom_model_unit(m, name, false, unit, sizeof unit)) {
            fputs(", \"unit\": ", stdout);
            carom_json_string(stdout, unit);
        }
        fputs("}", stdout);
    }
    fputs("]}\n", stdout);
    return DONE;
}

static int schemes(void) {
    fputc('[', stdout);
    for (const carom_scheme *const *at = carom_schemes(); *at; ++at) {
        fputs(at == carom_schemes() ? "{\"name\": " : ",\n{\"name\": ", stdout);
        carom_json_string(stdout, (*at)->name);
        fputs(", \"about\": ", stdout);
        carom_json_string(stdout, (*at)->about);
        fputc('}', stdout);
    }
    fputs("]\n", stdout);
    return DONE;
}

// -- run --------------------------------------------------------------------------------------------------------------

typedef struct run {
    carom_run_given given;
    const char *set[MOST_SET + 1];
    int nset;
    carom_record *record;
    double end, shown, next; // the run's end; when progress was shown; the time of the model at which to look at the
                             // clock again
} run;

static bool duration(const char *name, const char *text, double *x) {
    carom_error err = {0};
    if (!carom_model_quantity(NULL, "t", text, strlen(text), x, &err)) return cli_say("%s: %s", name, err.text), false;
    if (*x > 0) return true;
    cli_say("%s must be positive, got %s", name, text);
    return false;
}

static bool read_arguments(run *r, int n, char **word) {
    for (int i = 0; i < n; ++i) {
        const char *w = word[i];
        bool good = true;
        if (strncmp(w, "scheme=", 7) == 0) r->given.scheme = w + 7;
        else if (strncmp(w, "step=", 5) == 0) good = duration("step", w + 5, &r->given.step);
        else if (strncmp(w, "end=", 4) == 0) good = duration("end", w + 4, &r->given.end);
        else if (strncmp(w, "set:", 4) == 0 && r->nset < MOST_SET) r->set[r->nset++] = w + 4;
        else cli_say("'%s' is not understood", w), good = false;
        if (!good) return false;
    }
    return true;
}

// A browser's clock costs as much as a step of a small model.
static bool is_time_to_show(run *r, double t) {
    if (t < r->next) return false;
    r->next = t + 0.002 * r->end; // looks at the clock: 500 in a run; ten pictures a second
    return carom_seconds(CLOCK_MONOTONIC) > r->shown + 0.1;
}

static carom_status on_step(void *user, const carom_now *now) {
    run *r = user;
    if (is_time_to_show(r, now->t)) {
        r->shown = carom_seconds(CLOCK_MONOTONIC);
        fputs("{\"progress\": ", stderr);
        carom_json_number(stderr, now->t / r->end);
        fputs("}\n", stderr);
    }
    return carom_record_step(r->record, now);
}

static carom_record *open_record(const carom_model *m, carom_sim *sim, const run *r, const carom_run *settings,
                                 const char *text, size_t length, carom_error *err) {
    carom_record_def def = carom_record_default();
    def.model = m;
    def.sim = sim;
    def.memory = true;
    def.step = settings->step;
    def.end = settings->end;
    def.text = text;
    def.length = length;
    def.model_file = "model";
    def.set = r->set;
    def.options = (const char *const *)settings->options;
    return carom_record_create(&def, err);
}

static bool write_page(carom_result *result, const carom_model *m, const char *text) {
    page p = {.r = result, .file = "model", .of = m};
    carom_error err = {0};
    char why[300];
    carom_drawing *drawing = NULL;
    bool good = page_read(&p, MOST_ROWS);
    if (good) {
        drawing = carom_drawing_create(m, &err);
        if (drawing && carom_drawing_shapes(drawing) > 0 && !page_draw(&p, m, drawing, why, sizeof why))
            snprintf(p.note, sizeof p.note, "not drawn: %.140s", why);
        good = page_write(&p, stdout, text, &err);
        if (!good) cli_say("%s", err.text);
    }
    page_free(&p);
    carom_drawing_destroy(drawing);
    return good;
}

static int simulate(const carom_model *m, run *r, const char *text, size_t length) {
    carom_run settings = {0};
    carom_error err = {0}, end = {0};
    carom_sim *sim = NULL;
    carom_result *result = NULL;
    int code = WRONG;
    if (carom_run_resolve(&settings, m, &r->given, &err) == CAROM_OK) {
        const carom_sim_def def = carom_run_sim(&settings, m);
        sim = carom_sim_create(&def, &err);
        if (sim) r->record = open_record(m, sim, r, &settings, text, length, &err);
    }
    if (!r->record) cli_say("%s", err.text);
    if (r->record) {
        r->end = settings.end;
        r->shown = carom_seconds(CLOCK_MONOTONIC);
        const carom_status status = carom_sim_run(sim, on_step, r, &err);
        const bool done = status == CAROM_OK || carom_sim_done(sim);
        code = done ? DONE : FAILED;
        if (!done) cli_say("%s", err.text);
        if (carom_record_finish(r->record, done ? "done" : "failed", done ? NULL : err.text, &end) == CAROM_OK)
            result = carom_record_result(r->record, &end);
        if (!result) cli_say("%s", end.text);
        if (!result || !write_page(result, m, text)) code = FAILED;
    }
    carom_result_close(result);
    carom_record_destroy(r->record);
    carom_sim_destroy(sim);
    carom_run_free(&settings);
    return code;
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    run r = {.given = carom_run_nothing()};
    if (strcmp(verb, "schemes") == 0) return schemes();
    if (strcmp(verb, "check") != 0 && strcmp(verb, "run") != 0) return cli_say("check, run or schemes?"), WRONG;
    if (!read_arguments(&r, argc - 2, argv + 2)) return WRONG;
    size_t length = 0;
    char *text = read_all(stdin, &length);
    carom_error err = {0};
    const carom_model_def def = {.text = text, .length = length, .file = "model", .set = r.set};
    carom_model *m = text ? carom_model_create(&def, &err) : NULL;
    int code = WRONG;
    if (!m) cli_say("%s", text ? err.text : "not enough memory for the model");
    else if (strcmp(verb, "check") == 0) code = check(m);
    else code = simulate(m, &r, text, length);
    carom_model_destroy(m);
    free(text);
    return code;
}
