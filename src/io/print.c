// print.c: see print.h.
#include "io/print.h"
#include <string.h>

void carom_write_file(void *user, const char *text, size_t length) { fwrite(text, 1, length, user); }

void carom_escape_file(carom_target target, FILE *f, const char *text) {
    if (text) carom_escape(target, text, strlen(text), carom_write_file, f);
}

void carom_safe_file(FILE *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    carom_safe_print(carom_write_file, f, format, args);
    va_end(args);
}
