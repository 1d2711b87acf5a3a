// publish.c: see publish.h.
#define _GNU_SOURCE // F_OFD_SETLK
#include "io/publish.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char *part_name(const char *name) {
    const size_t size = strlen(name) + 40;
    char *part = malloc(size);
    if (part) snprintf(part, size, "%s.%ld.part", name, (long)getpid());
    return part;
}

int part_open(const char *part) {
    unlink(part); // of a process that had this number before
    return open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool file_lock(int fd, int what, int kind, double patience) {
#ifdef F_OFD_SETLK
    struct flock l = {.l_type = (short)kind, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 62) + what, .l_len = 1};
    enum { MOMENT = 1000000 }; // ns between two attempts
    const struct timespec moment = {0, MOMENT};
    for (;; patience -= 1e-9 * MOMENT) {
        if (fcntl(fd, F_OFD_SETLK, &l) == 0 || (errno != EAGAIN && errno != EACCES)) return true;
        if (!(patience > 0)) return false;
        nanosleep(&moment, NULL);
    }
#else
    (void)fd, (void)what, (void)kind, (void)patience;
    return true;
#endif
}

// Is somebody writing the file of this name?
static bool busy(const char *name) {
    const int fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const bool taken = fd >= 0 && !file_lock(fd, FILE_WRITER, F_WRLCK, 0);
    if (fd >= 0) close(fd);
    return taken;
}

static char *before_name(const char *name) {
    static const char ending[] = ".before";
    char *before = malloc(strlen(name) + sizeof ending);
    return before ? strcat(strcpy(before, name), ending) : NULL;
}

// Where there are no links the old file is without its name for a moment.
static bool keep_older(const char *name, const char *before) {
    if (link(name, before) == 0 || errno == EEXIST || errno == ENOENT) return true;
    return access(before, F_OK) == 0 || rename(name, before) == 0;
}

carom_status publish(const char *name, bool keep, carom_error *err) {
    char *part = part_name(name), *before = before_name(name);
    carom_status status = CAROM_OK;
    if (!part || !before) status = carom_fail(err, CAROM_NO_MEMORY, "no memory");
    else if (busy(name)) status = carom_fail(err, CAROM_IO, "cannot create %s: another run is writing it", name);
    else if ((keep && !keep_older(name, before)) || rename(part, name) != 0)
        status = carom_fail(err, CAROM_IO, "cannot create %s: %s", name, strerror(errno));
    if (status != CAROM_OK && part) unlink(part);
    free(part);
    free(before);
    return status;
}

void publish_for_good(const char *name) {
    char *before = before_name(name);
    if (before) unlink(before);
    free(before);
}

void publish_not(const char *name) {
    char *part = part_name(name);
    if (part) unlink(part);
    free(part);
}
