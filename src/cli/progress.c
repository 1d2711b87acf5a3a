// progress.c: one live line on the terminal: how far, how long still, and what the mechanism does.
#define _DEFAULT_SOURCE // TIOCGWINSZ
#include "cli/cli.h"
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 200 }; // columns: chosen, a longer bar shows nothing more

cli_progress cli_progress_begin(bool wanted, double fraction) {
    return (cli_progress){.on = wanted && isatty(STDERR_FILENO), .start = cli_clock(), .from = fraction, .step_t = NAN};
}

bool cli_progress_due(const cli_progress *p) {
    return p->on && cli_clock() - p->start >= 0.3; // a short run needs no line
}

static void duration(char *text, size_t size, double s) {
    if (s < 60) snprintf(text, size, "%.0f s", s);
    else if (s < 5400)
        snprintf(text, size, "%.0f min %02.0f s", (double)(long)(s / 60), s - 60 * (double)(long)(s / 60));
    else snprintf(text, size, "%.1f h", s / 3600);
}

static int columns(void) {
    struct winsize w = {0};
    const int n = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
    return n - 1 < WIDEST ? n - 1 : WIDEST; // the last column stays free: writing there may start a new line
}

// The parts that fit, the first ones first.
static int assemble(char *line, int width, char (*part)[64], int n) {
    int used = 0;
    for (int i = 0; i < n; ++i) {
        const int length = (int)strlen(part[i]);
        if (length == 0 || used + length + 2 > width) continue;
        memset(line + used, ' ', 2);
        memcpy(line + used + 2, part[i], (size_t)length);
        used += length + 2;
    }
    return used;
}

void cli_progress_show(cli_progress *p, double fraction, const cli_live *l) {
    const double gone = cli_clock() - p->start, done = fraction - p->from;
    // Adaptive steps differ: shown is their mean since the last time.
    const double h =
        !l->name && l->steps > p->steps && !isnan(p->step_t) ? (l->t - p->step_t) / (double)(l->steps - p->steps) : NAN;
    char part[6][64] = {{0}}, line[WIDEST + 1], left[32], bar[WIDEST + 1];
    snprintf(part[0], sizeof part[0], "%.40s = %-9.4g", l->name ? l->name : "t", l->t);
    if (l->name) snprintf(part[5], sizeof part[5], "%ld points", l->steps);
    if (l->contacts) snprintf(part[1], sizeof part[1], "contacts %d of %d", l->closed, l->contacts);
    if (l->contacts) snprintf(part[2], sizeof part[2], "impacts %ld", l->impacts);
    if (isfinite(l->energy)) snprintf(part[3], sizeof part[3], "energy %.5g", l->energy);
    if (done > 0) {
        duration(left, sizeof left, gone / done * (1 - fraction));
        snprintf(part[4], sizeof part[4], "%s left", left);
    }
    if (isfinite(h)) snprintf(part[5], sizeof part[5], "step %.3g", h);
    const int width = columns(), head = 6; // " 42 % "
    const int used = assemble(line, width - head, part, 6), room = width - head - used - 3,
              wide = room > 30 ? 30 : room;
    int length = wide > 4 ? wide : 0;
    for (int i = 0; i < length; ++i) bar[i] = i < (int)(fraction * length) ? '#' : '.';
    bar[length] = 0;
    carom_safe_file(stderr, "\r%4.0f %%%s%s%s%.*s\033[K", 100 * fraction, length ? " [" : "", bar, length ? "]" : "",
                    used, line);
    fflush(stderr);
    p->shown = true;
    p->step_t = l->t;
    p->steps = l->steps;
}

void cli_progress_end(cli_progress *p) {
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
