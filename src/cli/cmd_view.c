// cmd_view.c: carom view: a result as one HTML file that moves, or as one picture.
#define _POSIX_C_SOURCE 200809L
#include "cli/film.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE",
     "the page: .html (default: the result's name with .html, in this directory), or - for standard output; with --png "
     "the image",
     false},
    {"rows", 0, "N",
     "keep at most about N rows: impacts, and the lowest and highest values of every stretch (default: 8000, fewer "
     "when there are many columns)",
     false},
    {"model", 0, "FILE", "draw with this model instead of the one stored in the result (.csv results store none)",
     false},
    {"png", 0, "t=T",
     "instead of a page, an image of the mechanism at time T, the result's name with .png (needs chromium)", false},
    FILM_SIZE,
    {"live", 0, NULL,
     "while the result is being written: the page reloads every two seconds (`carom run --watch` makes such "
     "pages)",
     false},
    {NULL, 0, NULL, NULL, false},
};

// --png t=0.3
static bool read_time(const char *text, double *t) {
    if (strncmp(text, "t=", 2) == 0) return cli_read_time("png", text + 2, t);
    cli_say("--png: '%s' is not a time like t=0.3", text);
    return false;
}

static int picture(const cli_args *a, const char *file, const char *out) {
    film f = {.frames = 1, .fps = 1};
    if (!read_time(cli_value(a, "png"), &f.from) || !film_size(a, &f)) return CLI_USAGE;
    if (!carom_ends(out, ".png")) return cli_say("-o: '%s' does not end in .png", out), CLI_USAGE;
    if (!cli_writable(out)) return CLI_USAGE;
    f.to = f.from;
    page_view v;
    int status = CLI_USAGE;
    if (page_open(&v, file, cli_value(a, "model"), 0, false) && film_within(&v.page, &f))
        status = film_make(&v, &f, out);
    page_close(&v);
    return status;
}

static int run(const cli_args *a) {
    static const char *const old[] = {".h5", ".csv", NULL};
    const char *file = a->word[0];
    double rows = 0;
    char *own = cli_rename(file, old, cli_has(a, "png") ? ".png" : ".html");
    const char *out = cli_value(a, "out") ? cli_value(a, "out") : own;
    int status = CLI_USAGE;
    const bool png = cli_has(a, "png");
    const char *idle = !png && cli_has(a, "size")  ? "size"
                       : png && cli_has(a, "rows") ? "rows"
                       : png && cli_has(a, "live") ? "live"
                                                   : NULL;
    if (idle) {
        cli_say(png ? "--%s belongs to a page, and --png creates an image"
                    : "--%s belongs to an image: carom view --png t=T; the page is as large as its window",
                idle);
    } else if (png) {
        status = picture(a, file, out);
    } else if (page_good_name(out) && cli_positive(a, "rows", &rows)) {
        page_view v = {0};
        if (rows > 0 && (rows < 2 || rows != floor(rows) || rows > 1e9))
            cli_say("--rows: expected an integer of at least 2, got %s", cli_value(a, "rows"));
        else if (page_open(&v, file, cli_value(a, "model"), (long)rows, cli_has(a, "live")))
            status = page_save(out, page_write_view, &v);
        page_close(&v);
    }
    free(own);
    return status;
}

const cli_verb cli_view = {
    .name = "view",
    .arguments = "RESULT",
    .about = "write one self-contained HTML file with the animated mechanism and zoomable plots",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text =
        "The page works from the file system, offline, in any current browser.  The draw section of the model, which\n"
        "the result contains, defines what is drawn; without one the page shows coordinates as tracks.",
};
