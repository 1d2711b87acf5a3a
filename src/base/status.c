// status.c: the sentence of a failure.
#include "base/escape.h"
#include "base/number.h"
#include <carom/status.h>
#include <stdarg.h>

carom_status carom_fail(carom_error *err, carom_status code, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        const carom_locale l = carom_locale_begin();
        carom_safe_text(err->text, sizeof err->text, format, args); // names in it come from files
        carom_locale_end(l);
        va_end(args);
        err->code = code;
    }
    return code;
}
