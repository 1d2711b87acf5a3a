// say.c: sentences on standard error.
#include "cli/cli.h"
#include <stdarg.h>

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("carom: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
