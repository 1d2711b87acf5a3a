// examine_say.c: the sentences of `carom check`.
#include "base/number.h"
#include "derive/examine.h"
#include <stdarg.h>

void carom_exam_say(exam *x, carom_finding kind, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    if (kind == CAROM_FAULT) ++x->faults;
    x->report(x->user, kind, text);
}
