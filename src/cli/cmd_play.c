// cmd_play.c: carom play: the engine and an editor as one HTML file.
#define _POSIX_C_SOURCE 200809L
#include "cli/manual.h"
#include "cli/page.h"
#include "io/json.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE",
     "the page: .html (default: the model's name with .html, or play.html, in this directory), or - for standard "
     "output",
     false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct play {
    const char *name; // of the model that the page begins with; NULL: one of those that ship
    char *text;
    size_t length;
} play;

static void put_model(FILE *f, const char *name, const char *about, const char *text) {
    fputs("{\"name\":", f);
    carom_json_string(f, name);
    fputs(",\"about\":", f);
    carom_json_string(f, about);
    fputs(",\"text\":", f);
    carom_json_string(f, text);
    fputc('}', f);
}

// The models that ship, without those that need what a page has not: a scheme of the program alone.
static void put_models(const play *p, FILE *f) {
    fputs("{\"version\":\"" CAROM_VERSION "\",\"first\":\"slider-crank\"", f);
    if (p->name) fputs(",\"own\":", f), put_model(f, p->name, "", p->text);
    fputs(",\"models\":[", f);
    for (const cli_example *e = cli_example_table; e->name; ++e) {
        char about[200], *text = strndup((const char *)e->text, e->length);
        if (!text) abort();
        cli_example_about(e, about, sizeof about);
        if (e != cli_example_table) fputs(",\n", f);
        put_model(f, e->name, about, text);
        free(text);
    }
    fputs("]}", f);
}

static void put_schema(const play *p, FILE *f) { (void)p, manual_schema(f); }

// A part of the page that is JSON.  False: no memory.
static bool put_part(const play *p, void (*put)(const play *p, FILE *f), const char *id, FILE *f) {
    char *json = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&json, &length);
    if (memory) put(p, memory);
    const bool good = memory && fclose(memory) == 0;
    fprintf(f, "<script type=\"application/json\" id=\"%s\">\n", id);
    if (good) page_json(f, json, length);
    fputs("</script>\n", f);
    free(json);
    return good;
}

static bool write_play(const void *user, FILE *f, carom_error *err) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"carom " CAROM_VERSION "\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' "
          "'wasm-unsafe-eval' blob:; worker-src blob:; "
          "style-src 'unsafe-inline'; img-src data: blob:\">\n<title>carom</title>\n",
          f);
    page_part(f, "<style>\n", page_play_css, page_play_css_size,
              "</style>\n</head>\n<body>\n<noscript>This page computes with JavaScript, which is switched off "
              "here.</noscript>\n");
    if (!put_part(user, put_models, "carom-play", f) || !put_part(user, put_schema, "carom-schema", f))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the page"), false;
    fputs("<script type=\"text/plain\" id=\"carom-wasm\">\n", f);
    page_base64(f, page_carom_wasm_gz, page_carom_wasm_gz_size);
    page_part(f, "\n</script>\n<script type=\"text/plain\" id=\"carom-page-js\">\n", page_js, page_js_size,
              "</script>\n");
    page_part(f, "<script type=\"text/plain\" id=\"carom-page-css\">\n", page_css, page_css_size, "</script>\n");
    page_part(f, "<script type=\"text/plain\" id=\"carom-space-js\">\n", page_space_js, page_space_js_size,
              "</script>\n");
    page_part(f, "<script type=\"text/plain\" id=\"carom-worker\">\n", page_worker_js, page_worker_js_size,
              "</script>\n");
    page_part(f, "<script type=\"module\">\n", page_play_js, page_play_js_size, "</script>\n</body>\n</html>\n");
    return true;
}

// A model is checked here already: the page would begin with a complaint.
static bool read_own(play *p, const char *file) {
    const char *slash = strrchr(file, '/');
    p->name = slash ? slash + 1 : file;
    carom_model *m = cli_model(file, NULL, NULL, 0, &p->text, &p->length);
    carom_model_destroy(m);
    return m != NULL;
}

static int run(const cli_args *a) {
    static const char *const old[] = {".yaml", ".yml", NULL};
    play p = {0};
    char *own = a->n ? cli_rename(a->word[0], old, ".html") : NULL;
    const char *out = cli_value(a, "out") ? cli_value(a, "out") : own ? own : "play.html";
    int status = CLI_USAGE;
    if (page_good_name(out) && (a->n == 0 || (!cli_wants_model(a->word[0]) && read_own(&p, a->word[0]))))
        status = page_save(out, write_play, &p);
    free(p.text);
    free(own);
    return status;
}

const cli_verb cli_play = {
    .name = "play",
    .arguments = "[MODEL]",
    .about = "write one HTML file containing the engine: edit, run and watch models in a browser without installing "
             "anything",
    .least = 0,
    .most = 1,
    .options = options,
    .run = run,
    .text =
        "The page works from the file system, offline, in any current browser.  It contains the bundled models, all "
        "schemes but event-driven, and MODEL when one is given.\n"
        "Errors are underlined; parameters have sliders; two schemes can be compared side by side; "
        "`share` creates a link that contains the model.\n"
        "Models that read other files (matrices, tables, meshes) need the program.",
};
