// cuda.c: a CUDA text -> a program -> its results.
#define _POSIX_C_SOURCE 200809L
#include "compile/compile.h"
#include <carom/version.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const flags[] = {"-O3", "-std=c++17", "-arch=native", "-w", NULL};
// NO_CARD: exit status of the program (block_cuda.inc)
enum { FLAGS = sizeof flags / sizeof *flags, WORDS = sizeof((compiler *)0)->word / sizeof(char *), NO_CARD = 3 };

// Names of this process, in the folder of the program.
static void name_in(const cuda_program *p, const char *ending, char name[COMPILE_PATH + 80]) {
    snprintf(name, COMPILE_PATH + 80, "%s/%ld-%p.%s", p->folder, (long)getpid(), (const void *)p, ending);
}

static bool write_text(const char *file, const char *text, size_t length) {
    FILE *f = fopen(file, "wx");
    if (!f) return false;
    const bool good = fwrite(text, 1, length, f) == length;
    return fclose(f) == 0 && good;
}

static carom_status make(const cuda_program *p, const compiler *cc, const char *text, size_t length, carom_error *err) {
    char workshop[COMPILE_PATH], source[COMPILE_PATH + 80], log[COMPILE_PATH + 80], half[COMPILE_PATH + 80];
    char message[400];
    const char *argument[WORDS + FLAGS + 4];
    int n = 0, status = 0;
    CAROM_TRY(carom_cache_workshop(p->folder, workshop, err));
    snprintf(source, sizeof source, "%s/sweep.cu", workshop);
    snprintf(log, sizeof log, "%s/log", workshop);
    snprintf(half, sizeof half, "%s/half", workshop);
    for (int i = 0; i < cc->words; ++i) argument[n++] = i ? cc->word[i] : cc->path;
    for (int i = 0; flags[i]; ++i) argument[n++] = flags[i];
    argument[n++] = "-o", argument[n++] = half, argument[n++] = source, argument[n] = NULL;
    carom_status done = write_text(source, text, length)
                            ? CAROM_OK
                            : carom_fail(err, CAROM_IO, "cannot write %.400s: %s", source, strerror(errno));
    if (done == CAROM_OK) done = carom_program_run(cc->path, argument, log, &status, err);
    if (done == CAROM_OK && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        carom_program_message(log, message, sizeof message);
        done = carom_fail(err, CAROM_BAD_INPUT, "the compiler %.200s failed: %s", cc->path,
                          message[0] ? message : "it gave no reason");
    }
    if (done == CAROM_OK) done = carom_cache_publish(half, p->folder, p->file, err);
    carom_cache_remove(workshop);
    return done;
}

carom_status carom_cuda_open(cuda_program *p, const char *text, size_t length, carom_error *err) {
    compiler cc = {.flags = flags};
    CAROM_TRY(carom_program_find(&cc, "CAROM_NVCC", "nvcc", err));
    CAROM_TRY(carom_cache_folder(p->folder, &p->keep, err));
    const uint64_t name =
        carom_cache_mix(carom_cache_mix(cc.identity, carom_version(), strlen(carom_version())), text, length);
    snprintf(p->file, sizeof p->file, "%s/%016llx.cuda", p->folder, (unsigned long long)name);
    const bool there = p->keep && access(p->file, X_OK) == 0 && carom_cache_sound(p->file);
    carom_status status = there ? CAROM_OK : make(p, &cc, text, length, err);
    if (status == CAROM_OK && !carom_cache_trusted(p->file))
        status =
            carom_fail(err, CAROM_IO,
                       "%.400s is not run: it does not belong to you, or others can write to it; remove it", p->file);
    if (status != CAROM_OK) carom_cuda_close(p);
    return status;
}

static char *read_all(const char *file, size_t *n) {
    FILE *f = fopen(file, "rb");
    char *bytes = NULL;
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (size >= 0 && fseek(f, 0, SEEK_SET) == 0) bytes = malloc((size_t)size + 1);
    if (bytes && fread(bytes, 1, (size_t)size, f) != (size_t)size) free(bytes), bytes = NULL;
    if (f) fclose(f);
    *n = bytes ? (size_t)size : 0;
    return bytes;
}

carom_status carom_cuda_run(const cuda_program *p, long first, long last, char **bytes, size_t *n, carom_error *err) {
    char out[COMPILE_PATH + 80], log[COMPILE_PATH + 80], from[24], to[24], message[400];
    int status = 0;
    name_in(p, "raw", out), name_in(p, "log", log);
    unlink(out), unlink(log);
    snprintf(from, sizeof from, "%ld", first);
    snprintf(to, sizeof to, "%ld", last);
    const char *const argument[] = {p->file, "--raw", out, from, to, NULL};
    carom_status done = carom_program_run(p->file, argument, log, &status, err);
    if (done == CAROM_OK && WIFEXITED(status) && WEXITSTATUS(status) == NO_CARD) {
        carom_program_message(log, message, sizeof message);
        done = carom_fail(err, CAROM_BAD_INPUT, "the GPU cannot be used: %s", message);
    } else if (done == CAROM_OK && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        carom_program_message(log, message, sizeof message);
        done = carom_fail(err, CAROM_IO, "the sweep on the GPU failed: %s", message[0] ? message : "it gave no reason");
    }
    if (done == CAROM_OK && !(*bytes = read_all(out, n)))
        done = carom_fail(err, CAROM_IO, "cannot read %.400s: %s", out, strerror(errno));
    unlink(out), unlink(log);
    return done;
}

void carom_cuda_close(cuda_program *p) {
    if (p->folder[0] && !p->keep) carom_cache_remove(p->folder);
    p->folder[0] = 0;
}
