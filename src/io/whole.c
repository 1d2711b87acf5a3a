// whole.c: see whole.h.
#define _POSIX_C_SOURCE 200809L
#include "io/whole.h"
#include "io/publish.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

carom_status whole_open(whole_file *w, const char *name, carom_error *err) {
    struct stat old;
    const bool direct = stat(name, &old) == 0 && !S_ISREG(old.st_mode);
    *w = (whole_file){.name = name, .part = direct ? NULL : part_name(name)};
    if (!direct && !w->part) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the name of a file");
    const int fd = direct ? -1 : part_open(w->part);
    w->f = direct ? fopen(name, "wb") : fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (w->f) return CAROM_OK;
    if (fd >= 0) close(fd);
    const carom_status status = carom_fail(err, CAROM_IO, "cannot write %.300s: %s", name, strerror(errno));
    free(w->part);
    return status;
}

carom_status whole_close(whole_file *w, bool good, carom_error *err) {
    bool written = !ferror(w->f);
    written = fclose(w->f) == 0 && written && (!good || !w->part || rename(w->part, w->name) == 0);
    const int why = errno;
    if (w->part && !(good && written)) unlink(w->part);
    free(w->part);
    return written || !good ? CAROM_OK : carom_fail(err, CAROM_IO, "cannot write %.300s: %s", w->name, strerror(why));
}

char *whole_read(const char *file, size_t most, size_t *length, carom_error *err) {
    FILE *f = fopen(file, "rb");
    size_t room = 0, n = 0;
    char *text = NULL;
    bool good = f != NULL;
    errno = f ? 0 : errno;
    while (good) {
        if (room - n < 2) {
            room = room ? 2 * room : 65536;
            char *more = realloc(text, room);
            good = more != NULL;
            if (!good) break;
            text = more;
        }
        const size_t got = fread(text + n, 1, room - n - 1, f);
        n += got;
        if (n > most) errno = EFBIG;
        good = n <= most && !ferror(f);
        if (got == 0) break;
    }
    if (!good) carom_fail(err, CAROM_IO, "cannot read %.400s: %s", file, strerror(errno ? errno : EIO));
    if (f) fclose(f);
    if (!good) return free(text), NULL;
    text[n] = 0;
    *length = n;
    return text;
}
