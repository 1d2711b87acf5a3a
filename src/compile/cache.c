// cache.c: where compiled files live, and which of them may be loaded.
//
// Loading a file runs it.  So the folder must belong to the user and nobody else may write to it; the same holds for
// the file.  Where there is no such folder, a temporary one serves for this run alone.
//
// A file that a full disk, a crash or a fault of the disk has damaged would end the process when it is run (SIGBUS,
// SIGILL).  So each file ends in a seal: a mark, the length and a hash of the bytes before it, which loaders ignore.
// A file without a matching seal is compiled again.  Files are written in a folder of their own, sealed, flushed to
// the disk and then renamed, so that a name never refers to a part of a file.
#define _POSIX_C_SOURCE 200809L
#include "compile/compile.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
    if (snprintf(folder, COMPILE_PATH, "%s/carom-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp") < COMPILE_PATH &&
        mkdtemp(folder))
        return CAROM_OK;
    return carom_fail(err, CAROM_IO,
                      "no directory for compiled models: neither the cache directory nor a temporary one can be used "
                      "(%s); set XDG_CACHE_HOME to a directory of your own",
                      strerror(errno));
}

// -- seals -------------------------------------------------------------------------------------------------

typedef struct seal { char mark[8]; uint64_t length, hash; } seal;

static const seal unsealed = {.mark = {'c', 'a', 'r', 'o', 'm', 's', 'u', 'm'}, .hash = 14695981039346656037u};

static bool read_all(int fd, void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        const ssize_t n = read(fd, (char *)bytes + done, count - done);
        if (n <= 0 && !(n < 0 && errno == EINTR)) return false;
        if (n > 0) done += (size_t)n;
    }
    return true;
}

// Mix the next bytes of a file; *bytes: where they are kept, NULL: nowhere.
static bool mix_file(int fd, seal *s, char *bytes) {
    char block[65536];
    for (uint64_t done = 0; done < s->length;) {
        const size_t n = s->length - done < sizeof block ? (size_t)(s->length - done) : sizeof block;
        char *to = bytes ? bytes + done : block;
        if (!read_all(fd, to, n)) return false;
        s->hash = carom_cache_mix(s->hash, to, n);
        done += n;
    }
    return true;
}

static int open_own(const char *file, bool sealed, struct stat *s) {
    const int fd = open(file, (sealed ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC);
    if (!sealed && fd >= 0) fchmod(fd, 0700); // of a compiler, whatever the user's mask
    if (fd >= 0 && fstat(fd, s) == 0 && S_ISREG(s->st_mode) && own(s)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

// The file is whole; *bytes (NULL if not requested) are to be freed, *size without the seal.
static bool check(const char *file, char **bytes, size_t *size) {
    struct stat st;
    const int fd = open_own(file, true, &st);
    seal is = unsealed, should;
    char *content = NULL;
    bool good = fd >= 0 && st.st_size > (off_t)sizeof should;
    if (good) is.length = (uint64_t)st.st_size - sizeof should;
    if (good && bytes) good = (content = malloc(is.length)) != NULL;
    good = good && mix_file(fd, &is, content) && read_all(fd, &should, sizeof should);
    good = good && memcmp(is.mark, should.mark, sizeof is.mark) == 0;
    good = good && is.length == should.length && is.hash == should.hash;
    if (fd >= 0) close(fd);
    if (good && bytes) *bytes = content, *size = (size_t)is.length;
    else free(content);
    return good;
}

bool carom_cache_sound(const char *file) { return check(file, NULL, NULL); }

char *carom_cache_read(const char *file, size_t *size) {
    char *bytes = NULL;
    return check(file, &bytes, size) ? bytes : NULL;
}

static bool flush_folder(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); // some file systems cannot
    if (fd >= 0) close(fd);
    return good;
}

carom_status carom_cache_publish(const char *part, const char *folder, const char *file, carom_error *err) {
    struct stat st;
    const int fd = open_own(part, false, &st);
    seal s = unsealed;
    if (fd >= 0) s.length = (uint64_t)st.st_size;
    bool good = fd >= 0 && mix_file(fd, &s, NULL) && write(fd, &s, sizeof s) == (ssize_t)sizeof s && fsync(fd) == 0;
    if (fd >= 0) good = close(fd) == 0 && good;
    good = good && rename(part, file) == 0 && flush_folder(folder);
    return good ? CAROM_OK : carom_fail(err, CAROM_IO, "cannot write %.400s: %s", file, strerror(errno));
}

carom_status carom_cache_workshop(const char *folder, char workshop[COMPILE_PATH], carom_error *err) {
    if (strlen(folder) > COMPILE_PATH - 80)
        return carom_fail(err, CAROM_IO, "the path of the cache directory is too long: %.200s", folder);
    snprintf(workshop, COMPILE_PATH, "%s/make-XXXXXX", folder);
    if (mkdtemp(workshop)) return CAROM_OK;
    return carom_fail(err, CAROM_IO, "cannot create a directory in %.400s: %s", folder, strerror(errno));
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
