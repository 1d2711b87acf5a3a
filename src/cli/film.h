// film.h: pictures of a mechanism at given times, by the page of `carom view` in a browser without a window, and films
// of them by ffmpeg.
#pragma once
#include "cli/page.h"

typedef struct film {
    double from, to, fps; // times of the first and the last frame
    long frames;
    int width, height;
} film;

#define FILM_SIZE {"size", 0, "WxH", "width and height of the image in pixels (default 1280x720)", false}

/// What --size says; false: complained.
bool film_size(const cli_args *a, film *f);
/// Are the times those of the result?  False: complained.
bool film_within(const page *p, film *f);
/// Makes `out`: .png (one frame), .mp4 or .gif.  The exit status; complained where it is not CLI_DONE.
int film_make(const page_view *v, const film *f, const char *out);
