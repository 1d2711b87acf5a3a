// sweep_words.c: the words of a sweep, as `sweep` and `export cuda` take them.
#include "cli/sweep_words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sweep_whole(const cli_args *a, const char *name, long *n) {
    double x = 0;
    if (!cli_has(a, name)) return true;
    if (!cli_positive(a, name, &x)) return false;
    if (x != floor(x) || x > 1e9) return cli_say("--%s: %s is not a whole number", name, cli_value(a, name)), false;
    *n = (long)x;
    return true;
}

static bool read_part(const cli_args *a, carom_sweep_def *d) {
    const char *text = cli_value(a, "part");
    char rest = 0;
    if (!text) return true;
    if (sscanf(text, "%d/%d%c", &d->part, &d->parts, &rest) == 2 && d->parts >= 1 && d->part >= 1 && d->part <= d->parts) return true;
    return cli_say("--part: '%s' is not I/N with I from 1 to N", text), false;
}

static bool read_follow(const cli_args *a, carom_sweep_def *d) {
    static const char *const words[] = {"none", "up", "down", "both"};
    const char *text = cli_value(a, "follow");
    for (int i = 1; text && i < 4; ++i)
        if (strcmp(text, words[i]) == 0) return d->follow = (carom_follow)i, true;
    return text ? (cli_say("--follow: '%s' is none of up, down, both", text), false) : true;
}

static bool read_lanes(const cli_args *a, carom_sweep_def *d) {
    static const char *const words[] = {[CAROM_LANES_OFF] = "off", [CAROM_LANES_AUTO] = "auto", [CAROM_LANES_ON] = "on"};
    const char *text = cli_value(a, "lanes");
    for (int i = 0; text && i < 3; ++i)
        if (strcmp(text, words[i]) == 0) return d->lanes = (carom_lanes_mode)i, true;
    return text ? (cli_say("--lanes: '%s' is none of auto, on, off", text), false) : true;
}

static char *read_file(void *user, const char *name, carom_error *err) {
    (void)user;
    size_t length = 0;
    char *text = cli_read_file(name, &length);
    if (!text) carom_fail(err, CAROM_IO, "cannot read %.400s", name);
    else if (strlen(text) != length) return free(text), carom_fail(err, CAROM_BAD_INPUT, "%.400s is not a text", name), NULL;
    return text;
}

bool sweep_words_read(const cli_args *a, sweep_words *w, carom_sweep_def *d) {
    *d = carom_sweep_default();
    if (!sweep_whole(a, "count", &d->count) || !read_part(a, d) || !read_follow(a, d) || !read_lanes(a, d)) return false;
    if (!cli_number(a, "transient", &d->transient) || !cli_positive(a, "step", &d->run.step) || !cli_positive(a, "end", &d->run.end) ||
        !cli_positive(a, "rtol", &d->run.rtol) || !cli_positive(a, "atol", &d->run.atol))
        return false;
    d->gpu = cli_has(a, "gpu");
    d->zip = cli_has(a, "zip");
    d->section = cli_value(a, "section");
    d->run.dash = "--";
    d->run.scheme = cli_value(a, "scheme");
    d->run.adaptive = cli_has(a, "adaptive");
    d->run.options = w->options = cli_list(a, "option", NULL);
    d->vary = w->vary = cli_list(a, "vary", NULL);
    d->observe = w->observe = cli_list(a, "observe", NULL);
    d->model.set = w->set = cli_list(a, "set", NULL);
    d->model.file = a->word[0];
    d->read_file = read_file;
    return true;
}

void sweep_words_free(sweep_words *w) {
    free(w->set);
    free(w->vary);
    free(w->observe);
    free(w->options);
}
