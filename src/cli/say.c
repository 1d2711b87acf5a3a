// say.c: messages on standard error, and texts of models and results on standard output.
#include "cli/cli.h"
#include <stdarg.h>
#include <string.h>

static const cli_verb *speaking; // whose options messages name

void cli_say_as(const cli_verb *verb) { speaking = verb; }

// The option of the verb that a setting is, n characters of text; NULL: none.
static const char *option_of(const char *text, size_t n) {
    for (const char *const *s = speaking ? speaking->settings : NULL; s && *s; s += 2)
        if (strlen(s[0]) == n && strncmp(s[0], text, n) == 0) return s[1];
    for (const cli_option *o = speaking ? speaking->options : NULL; o && o->name; ++o)
        if (strlen(o->name) == n && strncmp(o->name, text, n) == 0) return o->name;
    return NULL;
}

// The library names settings, as `end` or `vary k=1:2:3`: on a command line they are options, --end and --vary k=1:2:3.
static void put_options(FILE *to, const char *text) {
    for (const char *at = text; *at;) {
        const size_t plain = strcspn(at, "`");
        fwrite(at, 1, plain, to);
        at += plain;
        if (!*at) return;
        const size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz-");
        const char *rest = at + 1 + n, *end = *rest == ' ' || *rest == '`' ? strchr(rest, '`') : NULL,
                   *option = end ? option_of(at + 1, n) : NULL;
        if (option) {
            fprintf(to, "--%s%.*s", option, (int)(end - rest), rest);
            at = end + 1;
        } else {
            fputc(*at++, to);
        }
    }
}

static void put(const char *before, const char *format, va_list args) {
    char text[8192];
    carom_safe_text(text, sizeof text, format, args);
    fputs(before, stderr);
    put_options(stderr, text);
    fputc('\n', stderr);
}

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    put("carom: ", format, args);
    va_end(args);
}

void cli_say_at(const char *format, ...) {
    va_list args;
    va_start(args, format);
    put("", format, args);
    va_end(args);
}

void cli_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    carom_safe_print(carom_write_file, stdout, format, args);
    va_end(args);
}
