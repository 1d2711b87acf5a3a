// cc.c: the system's C compiler, run without a shell.
#define _POSIX_C_SOURCE 200809L
#include "compile/compile.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// The same bits as the interpreter: no contraction, no errno; -O1 is as fast as -O2 on straight-line code, with what
// the text asks gcc for (carom_native_write_head), and compiles sooner.
static const char *const plain[] = {"-std=c17",        "-O1", "-fPIC", "-shared", "-w", "-ffp-contract=off",
                                    "-fno-math-errno", NULL};
// Lanes: vectors in place of single numbers, the same bits whatever their length.  The first two where the processor
// has them.
static const char *const lanes[] = {"-mavx2",
                                    "-mfma",
                                    "-std=gnu17",
                                    "-O3",
                                    "-fPIC",
                                    "-shared",
                                    "-w",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    NULL};
enum { FLAGS = sizeof lanes / sizeof *lanes, WORDS = sizeof((compiler *)0)->word / sizeof(char *) };

static bool runnable(const char *path, struct stat *s) {
    return stat(path, s) == 0 && S_ISREG(s->st_mode) && access(path, X_OK) == 0;
}

// Where is the program?  As a shell would look for it, but in absolute folders of PATH only: the answer does not depend
// on the working folder.
static bool locate(compiler *cc, struct stat *s) {
    const char *name = cc->word[0], *path = getenv("PATH");
    if (strchr(name, '/')) {
        char here[COMPILE_PATH] = "";
        if (name[0] != '/' && !getcwd(here, sizeof here)) return false;
        const int n = snprintf(cc->path, sizeof cc->path, "%s%s%s", here, name[0] != '/' ? "/" : "", name);
        return n < (int)sizeof cc->path && runnable(cc->path, s);
    }
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;
         at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        const int n = (int)strcspn(at, ":");
        if (*at != '/' || snprintf(cc->path, sizeof cc->path, "%.*s/%s", n, at, name) >= (int)sizeof cc->path) continue;
        if (runnable(cc->path, s)) return true;
    }
    return false;
}

static const char *const *flags_of_lanes(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return lanes;
#endif
    return lanes + 2;
}

carom_status carom_program_find(compiler *cc, const char *variable, const char *fallback, carom_error *err) {
    const char *given = getenv(variable);
    if (!given || !given[strspn(given, " \t")]) given = fallback;
    if (snprintf(cc->text, sizeof cc->text, "%s", given) >= (int)sizeof cc->text)
        return carom_fail(err, CAROM_BAD_INPUT, "the environment variable %s is too long", variable);
    cc->words = 0;
    char *rest = NULL;
    for (char *word = strtok_r(cc->text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (cc->words == WORDS - 1)
            return carom_fail(err, CAROM_BAD_INPUT, "the environment variable %s has more than %d words", variable,
                              WORDS - 1);
        cc->word[cc->words++] = word;
    }
    cc->word[cc->words] = NULL;
    struct stat s;
    if (!locate(cc, &s))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "there is no %s compiler '%.200s'; install one or name it in the environment variable %s",
                          strcmp(fallback, "cc") == 0 ? "C" : "CUDA", cc->word[0], variable);
    uint64_t id = carom_cache_mix(14695981039346656037u, cc->path, strlen(cc->path));
    const int64_t stamp[] = {(int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec, (int64_t)s.st_mtim.tv_nsec};
    id = carom_cache_mix(id, stamp, sizeof stamp);
    for (int i = 0; i < cc->words; ++i) id = carom_cache_mix(id, cc->word[i], strlen(cc->word[i]) + 1);
    for (int i = 0; cc->flags[i]; ++i) id = carom_cache_mix(id, cc->flags[i], strlen(cc->flags[i]) + 1);
    cc->identity = id;
    return CAROM_OK;
}

carom_status carom_cc_find(compiler *cc, bool for_lanes, carom_error *err) {
    cc->flags = for_lanes ? flags_of_lanes() : plain;
    return carom_program_find(cc, "CC", "cc", err);
}

void carom_program_message(const char *log, char *text, size_t size) {
    char line[400];
    FILE *f = fopen(log, "r");
    text[0] = 0;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        const bool error = strstr(line, "error") != NULL;
        if (error || !text[0]) snprintf(text, size, "%s", line);
        if (error) break;
    }
    if (f) fclose(f);
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

carom_status carom_program_run(const char *path, const char *const *argument, const char *log, int *status,
                               carom_error *err) {
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&files) != 0)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to start %.200s", path);
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    const int fresh = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    if (failed == 0) failed = posix_spawn_file_actions_addopen(&files, 1, log, fresh, 0600);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (failed == 0) failed = posix_spawn(&child, path, &files, NULL, (char *const *)argument, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return carom_fail(err, CAROM_IO, "%.200s does not start: %s", path, strerror(failed));
    *status = wait_for(child);
    return CAROM_OK;
}

carom_status carom_cc_run(const compiler *cc, const char *source, const char *target, const char *log,
                          carom_error *err) {
    const char *argument[WORDS + FLAGS + 5];
    int n = 0, i = 1;
    argument[n++] = cc->path;
    while (i < cc->words && cc->word[i][0] != '-') argument[n++] = cc->word[i++]; // what `ccache` calls
    for (int k = 0; cc->flags[k]; ++k) argument[n++] = cc->flags[k];
    while (i < cc->words) argument[n++] = cc->word[i++]; // its own options: the last of two that differ holds
    argument[n++] = "-o";
    argument[n++] = target;
    argument[n++] = source;
    argument[n++] = "-lm";
    argument[n] = NULL;

    int status = 0;
    CAROM_TRY(carom_program_run(cc->path, argument, log, &status, err));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return CAROM_OK;
    char message[400];
    carom_program_message(log, message, sizeof message);
    return carom_fail(err, CAROM_IO, "the compiler %.200s failed: %s", cc->path,
                      message[0] ? message : "it gave no reason");
}
