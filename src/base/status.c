// status.c: the sentence of a failure.
#include "base/number.h"
#include <carom/status.h>
#include <stdarg.h>

carom_status carom_fail(carom_error *err, carom_status code, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        carom_vformat(err->text, sizeof err->text, format, args);
        va_end(args);
        err->code = code;
    }
    return code;
}
