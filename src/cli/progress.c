// progress.c: how far, and how long still.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include <unistd.h>

enum { WIDTH = 40 };

cli_progress cli_progress_begin(bool wanted, double fraction) {
    return (cli_progress){.on = wanted && isatty(STDERR_FILENO), .start = cli_clock(), .from = fraction};
}

static void duration(char *text, size_t size, double s) {
    if (s < 60)
        snprintf(text, size, "%.0f s", s);
    else if (s < 5400)
        snprintf(text, size, "%.0f min %02.0f s", (double)(long)(s / 60), s - 60 * (double)(long)(s / 60));
    else
        snprintf(text, size, "%.1f h", s / 3600);
}

void cli_progress_show(cli_progress *p, double fraction, double t) {
    if (!p->on) return;
    const double gone = cli_clock() - p->start, done = fraction - p->from;
    if (gone < 0.3) return; // a short run needs no bar
    char bar[WIDTH + 1], left[32] = "";
    const int full = (int)(fraction * WIDTH);
    for (int i = 0; i < WIDTH; ++i) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = 0;
    if (done > 0) duration(left, sizeof left, gone / done * (1 - fraction));
    fprintf(stderr, "\r[%s] %3.0f %%  t = %-10.4g  %s left   ", bar, 100 * fraction, t, left);
    fflush(stderr);
    p->shown = true;
}

void cli_progress_end(cli_progress *p) {
    if (p->shown) fprintf(stderr, "\r%*s\r", WIDTH + 50, "");
    p->shown = false;
}
