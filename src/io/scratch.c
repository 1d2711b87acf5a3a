// scratch.c: see scratch.h.
#define _DEFAULT_SOURCE // mkstemp, mkdtemp
#include "io/scratch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The i-th place to look at; NULL: there are no more.
static const char *place(int i) {
    const char *given = getenv("TMPDIR");
    const bool usable = given && given[0] == '/';
    return i == 0 ? usable ? given : "/tmp" : i == 1 && usable ? "/tmp" : i == 1 + usable ? "." : NULL;
}

// "FOLDER/NAME-XXXXXX"; false: too long.
static bool pattern(char *text, size_t size, const char *folder, const char *name) {
    const int n = snprintf(text, size, "%s/%s-XXXXXX", folder, name);
    if (n >= 0 && (size_t)n < size) return true;
    errno = ENAMETOOLONG;
    return false;
}

FILE *scratch_file(void) {
    char name[4096];
    int first = 0; // the reason of the first place is the one to tell
    const char *folder;
    for (int i = 0; (folder = place(i)); ++i) {
        const int fd = pattern(name, sizeof name, folder, "carom") ? mkstemp(name) : -1;
        if (fd >= 0) unlink(name);
        FILE *f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
        if (f) return f;
        if (fd >= 0) close(fd);
        if (!first) first = errno;
    }
    errno = first;
    return NULL;
}

// A name from the root on, as other programs want it; false: too long, and the folder is gone.
static bool whole_name(char *folder, size_t size) {
    char *whole = realpath(folder, NULL);
    const bool fits = whole && strlen(whole) < size;
    if (fits) strcpy(folder, whole);
    else rmdir(folder), errno = whole ? ENAMETOOLONG : errno;
    free(whole);
    return fits;
}

bool scratch_folder(char *folder, size_t size, const char *name) {
    int first = 0;
    const char *in;
    for (int i = 0; (in = place(i)); ++i) {
        if (pattern(folder, size, in, name) && mkdtemp(folder)) return whole_name(folder, size);
        if (!first) first = errno;
    }
    errno = first;
    return false;
}
