// sweep_words.c: the words of a sweep, as `sweep` and `export cuda` take them.
#include "cli/sweep_words.h"
#include "base/number.h"
#include "mech/datum.h"
#include <carom/mech.h>
#include <stdlib.h>
#include <string.h>

static bool read_part(const cli_args *a, carom_sweep_def *d) {
    const char *text = cli_value(a, "part");
    char rest = 0;
    if (!text) return true;
    if (sscanf(text, "%d/%d%c", &d->part, &d->parts, &rest) == 2 && d->parts >= 1 && d->part >= 1 &&
        d->part <= d->parts)
        return true;
    return cli_say("--part: '%s' is not I/N with I from 1 to N", text), false;
}

static bool read_follow(const cli_args *a, carom_sweep_def *d) {
    static const char *const words[] = {"none", "up", "down", "both"};
    const char *text = cli_value(a, "follow");
    for (int i = 1; text && i < 4; ++i)
        if (strcmp(text, words[i]) == 0) return d->follow = (carom_follow)i, true;
    return text ? (cli_say("--follow: expected up, down or both, got '%s'", text), false) : true;
}

static bool read_lanes(const cli_args *a, carom_sweep_def *d) {
    static const char *const words[] = {
        [CAROM_LANES_OFF] = "off", [CAROM_LANES_AUTO] = "auto", [CAROM_LANES_ON] = "on"};
    const char *text = cli_value(a, "lanes");
    for (int i = 0; text && i < 3; ++i)
        if (strcmp(text, words[i]) == 0) return d->lanes = (carom_lanes_mode)i, true;
    return text ? (cli_say("--lanes: expected auto, on or off, got '%s'", text), false) : true;
}

static char *read_file(void *user, const char *name, carom_error *err) {
    (void)user;
    size_t length = 0;
    char *text = cli_load_file(name, &length, err);
    if (text && strlen(text) != length)
        return free(text), carom_fail(err, CAROM_BAD_INPUT, "%.400s is not a text", name), NULL;
    return text;
}

bool sweep_words_read(const cli_args *a, sweep_words *w, carom_sweep_def *d) {
    *d = carom_sweep_default();
    if (!cli_whole(a, "count", 1000000000, &d->count) || !read_part(a, d) || !read_follow(a, d) || !read_lanes(a, d))
        return false;
    if (!cli_time(a, "transient", &d->transient) || !cli_run_duration(a, "step", &d->run.step) ||
        !cli_run_duration(a, "end", &d->run.end) || !cli_positive(a, "rtol", &d->run.rtol) ||
        !cli_positive(a, "atol", &d->run.atol))
        return false;
    d->gpu = cli_has(a, "gpu");
    d->zip = cli_has(a, "zip");
    d->section = cli_value(a, "section");
    d->run.scheme = cli_value(a, "scheme");
    d->run.adaptive = cli_has(a, "adaptive");
    d->run.options = w->options = cli_list(a, "option");
    d->vary = w->vary = cli_list(a, "vary");
    d->observe = w->observe = cli_list(a, "observe");
    d->model.set = w->set = cli_settings(a);
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

// -- the section `sweep` of a model -----------------------------------------------------------------------------------

// good: there was room for all
typedef struct joined { cli_args *all; char *own; size_t used, room; int most; bool good, wrong; } joined;

static const char *keep(joined *j, const char *text) {
    const size_t n = strlen(text) + 1;
    if (j->used + n > j->room) return j->good = false, "";
    char *at = memcpy(j->own + j->used, text, n);
    j->used += n;
    return at;
}

static void give(joined *j, int option, const char *value) {
    if (j->all->ngiven == j->most) j->good = false;
    else j->all->given[j->all->ngiven++] = (cli_given){option, value};
}

// A number, a word, or a list of them with commas between.
static void write_value(const carom_datum *d, char *to, size_t room) {
    const int n = d->kind >= CAROM_LIST ? d->count : 1;
    for (int i = 0; i < n; ++i) {
        const carom_datum *x = d->kind >= CAROM_LIST ? d->item + i : d;
        const size_t used = strlen(to);
        if (x->kind == CAROM_NUMBER) carom_format(to + used, room - used, "%s%.17g", i ? "," : "", x->number);
        else snprintf(to + used, room - used, "%s%s", i ? "," : "", x->text);
    }
}

static void join_one(joined *j, int option, const cli_option *o, const carom_datum *d) {
    const bool named = d->kind == CAROM_MAP;
    char text[4096] = "";
    if (!o->value) { // a switch
        const bool on = d->kind == CAROM_TEXT && (strcmp(d->text, "yes") == 0 || strcmp(d->text, "true") == 0);
        const bool off = d->kind == CAROM_TEXT && (strcmp(d->text, "no") == 0 || strcmp(d->text, "false") == 0);
        if (on) give(j, option, "");
        if (!on && !off)
            cli_say("%s:%d:%d: '%s' in sweep is yes or no", j->all->word[0], d->line, d->column, o->name),
                j->wrong = true;
        return;
    }
    if (d->kind < CAROM_LIST || (!named && !o->repeat)) {
        write_value(d, text, sizeof text);
        give(j, option, keep(j, text));
        return;
    }
    for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c) {
        snprintf(text, sizeof text, "%s%s", named ? c->key->text : "", named ? "=" : "");
        write_value(c, text, sizeof text);
        give(j, option, keep(j, text));
    }
}

static int find_option(const cli_verb *verb, const char *name) {
    // of the command line alone
    static const char *const apart[] = {"resume", "out", "quiet", "set", "matrix", "start", NULL};
    for (int i = 0; apart[i]; ++i)
        if (strcmp(apart[i], name) == 0) return -1;
    for (int i = 0; verb->options[i].name; ++i)
        if (strcmp(verb->options[i].name, name) == 0) return i;
    return -1;
}

// Room for what a datum becomes.
static void measure(const carom_datum *d, size_t *bytes, int *count) {
    *bytes += d->length + 64 + (d->key ? d->key->length : 0);
    *count += 1;
    for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c) measure(c, bytes, count);
}

bool sweep_words_join(const cli_args *typed, const cli_verb *sweep, const char *text, size_t length, cli_args *all,
                      char **own) {
    carom_error err = {0};
    carom_mech *m = carom_mech_read(text, length, typed->word[0], &err);
    if (!m) return cli_say("%s", err.text), false;
    joined j = {.all = all, .most = typed->ngiven, .good = true};
    bool known = true;
    measure(&m->sweep, &j.room, &j.most);
    *all = *typed;
    all->word = calloc((size_t)typed->n + 1, sizeof *all->word);
    all->given = calloc((size_t)j.most + 1, sizeof *all->given);
    j.own = *own = malloc(j.room + 1);
    if (!all->word || !all->given || !j.own) abort();
    for (int i = 0; i < typed->n; ++i) all->word[i] = typed->word[i];
    for (int i = 0; i < typed->ngiven; ++i) all->given[i] = typed->given[i];
    for (const carom_datum *c = carom_first(&m->sweep); c != carom_end(&m->sweep) && known; ++c) {
        const int option = find_option(sweep, c->key->text), mine = find_option(typed->verb, c->key->text);
        known = option >= 0;
        if (!known)
            cli_say("%s:%d:%d: sweep: unknown option '%s'; `carom help sweep` lists them", typed->word[0], c->key->line,
                    c->key->column, c->key->text);
        else if (mine >= 0 && !cli_has(typed, c->key->text)) join_one(&j, mine, &typed->verb->options[mine], c);
    }
    carom_mech_destroy(m);
    if (!j.good) cli_say("%s: a value in the section sweep is too long", typed->word[0]);
    return known && j.good && !j.wrong;
}
