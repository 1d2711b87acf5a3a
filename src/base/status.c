// status.c: the sentence of a failure.
#include "base/number.h"
#include <carom/status.h>
#include <stdarg.h>
#include <stdio.h>

carom_status carom_fail(carom_error *err, carom_status code, const char *format, ...) {
    if (err) {
        const carom_locale locale = carom_locale_begin();
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        carom_locale_end(locale);
        err->code = code;
    }
    return code;
}
