// text.c: files and sentences.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODEL = 64 << 20 };

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("carom: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

char *cli_read_file(const char *file, size_t *length) {
    FILE *f = fopen(file, "rb");
    size_t room = 0, n = 0;
    char *text = NULL;
    bool good = f != NULL;
    errno = f ? 0 : errno;
    while (good) {
        if (room - n < 2) {
            room = room ? 2 * room : 16384;
            char *more = realloc(text, room);
            good = more != NULL;
            if (!good) break;
            text = more;
        }
        const size_t got = fread(text + n, 1, room - n - 1, f);
        n += got;
        if (n > MOST_MODEL) errno = EFBIG;
        good = n <= MOST_MODEL && !ferror(f);
        if (got == 0) break;
    }
    if (f) fclose(f);
    if (!good) {
        cli_say("cannot read %s: %s", file, strerror(errno ? errno : EIO));
        free(text);
        return NULL;
    }
    text[n] = 0;
    *length = n;
    return text;
}

bool cli_ends(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

char *cli_rename(const char *file, const char *const *endings, const char *ending) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t n = strlen(base);
    for (int i = 0; endings[i]; ++i) {
        if (!cli_ends(base, endings[i]) || strlen(endings[i]) >= n) continue;
        n -= strlen(endings[i]);
        break;
    }
    char *name = malloc(n + strlen(ending) + 1);
    if (!name) abort();
    memcpy(name, base, n);
    strcpy(name + n, ending);
    return name;
}

const char *cli_suggest(char *buffer, size_t size, const char *word, const char *(*next)(const void *user, int i), const void *user) {
    const char *near = carom_nearest(word, next, user);
    if (near)
        snprintf(buffer, size, "; did you mean '%s'?", near);
    else
        buffer[0] = 0;
    return buffer;
}

carom_model *cli_model(const char *file, const char *const *set, char **text, size_t *length) {
    *text = cli_read_file(file, length);
    if (!*text) return NULL;
    carom_error err = {0};
    const carom_model_def def = {.text = *text, .length = *length, .file = file, .set = set};
    carom_model *model = carom_model_create(&def, &err);
    if (!model) {
        fprintf(stderr, "%s\n", err.text); // starts with file:line:column
        free(*text);
        *text = NULL;
    }
    return model;
}
