// cmd_film.c: carom film: a result as a film.
#define _POSIX_C_SOURCE 200809L
#include "cli/film.h"
#include <math.h>
#include <stdlib.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "the video: .mp4 or .gif (default: the result's name with .mp4, in this directory)", false},
    {"speed", 0, "X", "seconds of simulated time per second of video (default: the whole result in about ten seconds)",
     false},
    {"fps", 0, "N", "frames per second (default 30; 20 for .gif)", false},
    {"from", 0, "T", "time of the first frame (default: the first row)", false},
    {"to", 0, "T", "time of the last frame (default: the last row)", false},
    FILM_SIZE,
    {"model", 0, "FILE", "draw with this model instead of the one stored in the result (.csv results store none)",
     false},
    {NULL, 0, NULL, NULL, false},
};

static bool read_film(const cli_args *a, const page *p, film *f) {
    double speed = 0;
    f->from = p->channel[0][0];
    f->to = p->channel[0][p->kept - 1];
    if (!cli_time(a, "from", &f->from) || !cli_time(a, "to", &f->to) || !film_within(p, f) ||
        !cli_positive(a, "speed", &speed) || !cli_positive(a, "fps", &f->fps))
        return false;
    if (f->fps > 240) return cli_say("--fps must be at most 240"), false;
    if (!(f->to > f->from)) return cli_say("--to must be later than --from"), false;
    const double seconds = speed > 0 ? (f->to - f->from) / speed : 10, frames = floor(seconds * f->fps) + 1;
    f->frames = frames > 1e9 ? 1000000000 : frames < 2 ? 2 : (long)frames;
    return true;
}

static int run(const cli_args *a) {
    static const char *const old[] = {".h5", ".csv", NULL};
    char *own = cli_rename(a->word[0], old, ".mp4");
    const char *out = cli_value(a, "out") ? cli_value(a, "out") : own;
    film f = {.fps = carom_ends(out, ".gif") ? 20 : 30};
    page_view v = {0};
    int status = CLI_USAGE;
    if (!carom_ends(out, ".mp4") && !carom_ends(out, ".gif")) cli_say("-o: '%s' ends neither in .mp4 nor in .gif", out);
    else if (cli_writable(out) && film_size(a, &f) && page_open(&v, a->word[0], cli_value(a, "model"), 0, false) &&
             read_film(a, &v.page, &f))
        status = film_make(&v, &f, out);
    page_close(&v);
    free(own);
    return status;
}

const cli_verb cli_film = {
    .name = "film",
    .arguments = "RESULT",
    .about = "write a video of the mechanism: .mp4 or .gif",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "The images are those of `carom view`, rendered by chromium without a window (CHROMIUM names another "
            "such browser); ffmpeg encodes the video.",
};
