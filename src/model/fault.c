// fault.c: mistakes in what is given, found when a model is made.
#include "base/number.h"
#include "model/model.h"

carom_status carom_model_vfault(const carom_model *m, carom_error *err, const carom_datum *d, size_t offset,
                                const char *format, va_list args) {
    char text[700], place[240];
    carom_vformat(text, sizeof text, format, args);
    carom_datum_place(d, m->file, offset, place, sizeof place);
    return carom_fail(err, CAROM_BAD_INPUT, "%s: %s", place, text);
}

carom_status carom_model_no_memory(const carom_model *m, carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the model %.200s", m->file);
}

carom_status carom_model_fault(const carom_model *m, carom_error *err, const carom_datum *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const carom_status status = carom_model_vfault(m, err, d, 0, format, args);
    va_end(args);
    return status;
}
