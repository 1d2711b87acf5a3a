// cache.c: where compiled files live, and which of them may be loaded.
//
// Loading a file runs it.  So the folder must belong to the user and nobody else may write to it; the same holds for
// the file.  Where there is no such folder, a temporary one serves for this run alone.
#define _POSIX_C_SOURCE 200809L
#include "compile/compile.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t carom_cache_mix(uint64_t hash, const void *bytes, size_t count) { // FNV-1a
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; ++i) hash = (hash ^ b[i]) * 1099511628211u;
    return hash;
}

static bool own(const struct stat *s) { return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH)); }

bool carom_cache_trusted(const char *file) {
    struct stat s;
    return lstat(file, &s) == 0 && S_ISREG(s.st_mode) && own(&s);
}

// The folder is there, a real one, and the user's own.
static bool usable(const char *folder) {
    struct stat s;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return false;
    return lstat(folder, &s) == 0 && S_ISDIR(s.st_mode) && own(&s) && access(folder, W_OK | X_OK) == 0;
}

// $XDG_CACHE_HOME/carom, or ~/.cache/carom.
static bool cache(char folder[COMPILE_PATH]) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/') {
        if (snprintf(folder, COMPILE_PATH, "%s/carom", base) >= COMPILE_PATH) return false;
        return (mkdir(base, 0700) == 0 || errno == EEXIST) && usable(folder);
    }
    if (!home || home[0] != '/') return false;
    if (snprintf(folder, COMPILE_PATH, "%s/.cache", home) >= COMPILE_PATH - 10) return false;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return false;
    strcat(folder, "/carom");
    return usable(folder);
}

carom_status carom_cache_folder(char folder[COMPILE_PATH], bool *keep, carom_error *err) {
    *keep = cache(folder);
    if (*keep) return CAROM_OK;
    const char *tmp = getenv("TMPDIR");
    if (snprintf(folder, COMPILE_PATH, "%s/carom-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp") < COMPILE_PATH && mkdtemp(folder)) return CAROM_OK;
    return carom_fail(err, CAROM_IO, "no folder for compiled models: neither the cache folder nor a temporary one can be used (%s); "
                      "set XDG_CACHE_HOME to a folder of your own", strerror(errno));
}

void carom_cache_remove(const char *folder) {
    DIR *d = opendir(folder);
    if (d) {
        for (const struct dirent *e = readdir(d); e; e = readdir(d))
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(dirfd(d), e->d_name, 0);
        closedir(d);
    }
    rmdir(folder);
}
