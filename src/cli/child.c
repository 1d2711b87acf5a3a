// child.c: see child.h.
#define _POSIX_C_SOURCE 200809L
#include "cli/child.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int cli_child_start(pid_t *pid, const char *const *argv, int in, int out, int complaints) {
    const int stream[3] = {in, out, complaints};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; ++i) {
        if (stream[i] >= 0) posix_spawn_file_actions_adddup2(&actions, stream[i], i);
        else posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
    }
    const int failed = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)(void *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

bool cli_child_wait(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
