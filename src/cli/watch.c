// watch.c: see watch.h.
#define _POSIX_C_SOURCE 200809L
#include "cli/child.h"
#include "cli/watch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double least_rest = 2, rest = 4; // between two pages: seconds, and times as long as writing one took

// Rows that were not flushed yet are for the next page.
static void begin_page(cli_watch *w, bool live) {
    const char *argv[] = {"/proc/self/exe", "view", w->result, "-o", w->page, live ? "--live" : NULL, NULL};
    w->began = cli_clock();
    if (cli_child_start(&w->child, argv, -1, -1, -1) != 0) w->child = 0;
}

static char *page_of(const char *result) {
    static const char *const old[] = {".h5", ".csv", NULL};
    return cli_rename(result, old, ".html");
}

// An older page of carom is replaced.
static bool is_foreign(const char *page) {
    char head[1024];
    struct stat st;
    if (stat(page, &st) != 0) return false;
    FILE *f = S_ISREG(st.st_mode) ? fopen(page, "rb") : NULL;
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f) fclose(f);
    head[n] = 0;
    return !strstr(head, "name=\"generator\" content=\"carom ");
}

bool cli_watch_allowed(const char *result) {
    char *page = page_of(result);
    const bool foreign = is_foreign(page);
    if (foreign)
        cli_say("--watch would replace %s, which carom did not write; give --out another name, or --force", page);
    free(page);
    return !foreign;
}

void cli_watch_begin(cli_watch *w, const char *result) {
    *w = (cli_watch){.result = result, .page = page_of(result)};
    cli_say("watch it in %s", w->page);
}

// Where there is a desktop the browser shows it; the name was said anyway.
static void show(cli_watch *w) {
    pid_t pid = 0;
    const char *argv[] = {"xdg-open", w->page, NULL};
    w->shown = true;
    if ((getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) && cli_child_start(&pid, argv, -1, -1, -1) == 0)
        cli_child_wait(pid);
}

void cli_watch_tend(cli_watch *w) {
    if (!w->page) return;
    int status = 0;
    if (w->child && waitpid(w->child, &status, WNOHANG) == w->child) {
        w->child = 0;
        w->next = cli_clock() + fmax(least_rest, rest * (cli_clock() - w->began));
        if (!w->shown && WIFEXITED(status) && WEXITSTATUS(status) == 0) show(w);
    }
    if (!w->child && cli_clock() >= w->next) begin_page(w, true);
}

void cli_watch_end(cli_watch *w) {
    if (!w->page) return;
    if (w->child) waitpid(w->child, NULL, 0);
    begin_page(w, false);
    if (w->child) waitpid(w->child, NULL, 0);
    if (!w->shown) show(w);
    free(w->page);
    *w = (cli_watch){0};
}
