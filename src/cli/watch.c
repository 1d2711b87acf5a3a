// watch.c: see watch.h.
#define _POSIX_C_SOURCE 200809L
#include "cli/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const double rest = 2; // seconds between two pages, and the time that writing one took

static bool start(pid_t *pid, const char *const *argv) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; ++i) posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
    const int failed = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)(void *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

// Rows that were not flushed yet are for the next page.
static void begin_page(cli_watch *w, bool live) {
    const char *argv[] = {"/proc/self/exe", "view", w->result, "-o", w->page, live ? "--live" : NULL, NULL};
    if (!start(&w->child, argv)) w->child = 0;
}

void cli_watch_begin(cli_watch *w, const char *result) {
    static const char *const old[] = {".h5", ".csv", NULL};
    *w = (cli_watch){.result = result};
    w->page = cli_rename(result, old, ".html");
    cli_say("watch it in %s", w->page);
}

// Where there is a desktop the browser shows it; the name was said anyway.
static void show(cli_watch *w) {
    pid_t pid = 0;
    const char *argv[] = {"xdg-open", w->page, NULL};
    w->shown = true;
    if ((getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) && start(&pid, argv)) waitpid(pid, NULL, 0);
}

void cli_watch_tend(cli_watch *w) {
    if (!w->page) return;
    int status = 0;
    if (w->child && waitpid(w->child, &status, WNOHANG) == w->child) {
        w->child = 0;
        w->next = cli_clock() + rest;
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
