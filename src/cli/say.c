// say.c: messages on standard error, and texts of models and results on standard output.
#include "cli/cli.h"
#include <stdarg.h>

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("carom: ", stderr);
    carom_safe_print(carom_write_file, stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void cli_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    carom_safe_print(carom_write_file, stdout, format, args);
    va_end(args);
}
