// page_open.c: from a result to its page: the model that it holds, its drawing, rows that fit; and how pages are saved.
#define _POSIX_C_SOURCE 200809L
#include "cli/page.h"
#include "io/recording.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// without a number of rows: so many, and bytes of numbers; a world takes what fits, but at least so many rows
enum { MOST_ROWS = 8000, LEAST_ROWS = 500, WORLD_ROWS = 40, MOST_SHAPES = 120000, BUDGET = 24 << 20 };

// Lines of the result's attribute `set`.
static void read_set(page_view *v) {
    const char *stored = carom_result_text(v->page.r, "set");
    v->set_own = strdup(stored ? stored : "");
    if (!v->set_own) abort();
    v->set = cli_split(v->set_own, '\n');
}

static void no_drawing(page_view *v, const char *why) {
    cli_say("%s: the mechanism is not drawn: %s", v->page.file, why);
    snprintf(v->page.note, sizeof v->page.note, "not drawn: %.140s", why);
}

// The model of the result, or of --model; a result without one still has its plots.  False: --model is wrong.
static bool read_model(page_view *v, const char *file) {
    size_t length = 0;
    carom_error err = {0};
    const carom_matrix_text *matrices = NULL;
    int n = 0;
    read_set(v);
    if (carom_result_matrices(v->page.r, &matrices, &n, &err) != CAROM_OK) return no_drawing(v, err.text), true;
    if (file) {
        v->model = cli_model(file, v->set, matrices, n, &v->text, &length);
        v->model_text = v->text;
        return v->model != NULL;
    }
    const char *text = carom_result_model(v->page.r, &length), *name = carom_result_text(v->page.r, "model_file");
    if (!text || length == 0) return true;
    v->model_text = text;
    const carom_model_def def = {.text = text,
                                 .length = length,
                                 .file = name && name[0] ? name : v->page.file,
                                 .set = v->set,
                                 .matrices = matrices,
                                 .nmatrices = n};
    v->model = carom_model_create(&def, &err);
    if (!v->model) no_drawing(v, err.text);
    return true;
}

static void read_drawing(page_view *v) {
    char why[300];
    if (!v->drawing) return;
    v->page.of = v->model;
    if (carom_drawing_shapes(v->drawing) > MOST_SHAPES) {
        snprintf(why, sizeof why, "it has %d shapes, a page takes %d; use carom export vtk",
                 carom_drawing_shapes(v->drawing), MOST_SHAPES);
        no_drawing(v, why);
    } else if (carom_drawing_shapes(v->drawing) > 0 && !page_draw(&v->page, v->model, v->drawing, why, sizeof why))
        no_drawing(v, why);
}

// A page that would become too large does without velocities; one that still would has coarse numbers.
static void shrink(page_view *v) {
    page *p = &v->page;
    if (!v->model || (double)p->columns * (double)p->kept * 16 / 3 < BUDGET) return;
    p->coarse = (double)p->columns * (double)p->kept * 8 / 3 > BUDGET;
    const int dropped = page_drop_rates(p, v->model);
    if (dropped && !p->note[0])
        snprintf(p->note, sizeof p->note, "%d columns of velocities are not on this page, which would become too large",
                 dropped);
}

static long default_rows(const page_view *v) {
    // 4 bytes in base64, and as much again for some of them
    const double fits = BUDGET / (6.0 * carom_result_columns(v->page.r));
    if (fits >= LEAST_ROWS) return fits > MOST_ROWS ? MOST_ROWS : (long)fits;
    if (!v->drawing) return LEAST_ROWS;
    // a world: 2 bytes in base64 for every coordinate, no velocities; a page that is often loaded again has fewer
    const double bytes = 8.0 / 3 * (1.0 + carom_model_count(v->model).coordinates);
    const double rows = (v->page.live ? BUDGET / 4 : BUDGET) / bytes;
    return rows > LEAST_ROWS ? LEAST_ROWS : rows < WORLD_ROWS ? WORLD_ROWS : (long)rows;
}

bool page_begin(page_view *v, const char *file, const char *model) {
    const char *slash = strrchr(file, '/');
    carom_error err = {0};
    *v = (page_view){.page = {.file = slash ? slash + 1 : file}};
    if (!carom_result_probe(file)) {
        if (access(file, R_OK) != 0) cli_say("cannot read %s: %s", file, strerror(errno));
        else if (!cli_wants_result(file)) cli_say("%s is not a result", file);
        return false;
    }
    if (!(v->page.r = carom_result_open(file, &err))) return cli_say("%s", err.text), false;
    if (!read_model(v, model)) return false;
    if (v->model && !(v->drawing = carom_drawing_create(v->model, &err))) no_drawing(v, err.text);
    return true;
}

bool page_open(page_view *v, const char *file, const char *model, long rows, bool live) {
    if (!page_begin(v, file, model)) return false;
    v->page.live = live;
    if (!page_read(&v->page, rows > 0 ? rows : default_rows(v))) return false;
    read_drawing(v);
    shrink(v);
    return true;
}

void page_close(page_view *v) {
    page_free(&v->page);
    carom_drawing_destroy(v->drawing);
    carom_model_destroy(v->model);
    if (v->page.r) carom_result_close(v->page.r);
    free(v->text);
    free(v->set_own);
    free(v->set);
}

int page_save(const char *out, bool (*write)(const void *user, FILE *f, carom_error *err), const void *user) {
    carom_error err = {0};
    const bool stream = strcmp(out, "-") == 0;
    whole_file w = {.f = stdout};
    if (!stream && whole_open(&w, out, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_USAGE;
    bool good = write(user, w.f, &err);
    if (!stream) good = whole_close(&w, good, &err) == CAROM_OK && good;
    if (!good) cli_say("%s", err.text);
    if (good && !stream) cli_print("%s\n", out);
    return good ? CLI_DONE : CLI_FAILED;
}

bool page_write_view(const void *user, FILE *f, carom_error *err) {
    const page_view *v = user;
    return page_write(&v->page, f, v->model_text, err);
}

bool page_good_name(const char *out) {
    if (strcmp(out, "-") == 0 || carom_ends(out, ".html") || carom_ends(out, ".htm")) return true;
    cli_say("-o: '%s' does not end in .html", out);
    return false;
}
