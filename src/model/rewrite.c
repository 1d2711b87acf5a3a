// rewrite.c: see rewrite.h.  Comments and layout of the text stay as they are.
#include "model/rewrite.h"
#include "base/number.h"
#include "model/model.h"
#include <stdlib.h>
#include <string.h>

// Where line and column (characters of UTF-8, from 1) are; NULL: behind the end.
static const char *find(const char *text, const char *end, int line, int column) {
    for (int i = 1; i < line; ++i) {
        text = memchr(text, '\n', (size_t)(end - text));
        if (!text) return NULL;
        ++text;
    }
    for (int i = 1; i < column && text < end; ++i) do
            ++text;
        while (text < end && ((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

carom_status carom_model_rewrite(const carom_model *m, const char *text, size_t length, int n, const int *parameter,
                                 const double *value, char **out, carom_error *err) {
    enum { NUMBER = 40 }; // characters: %.17g has 24
    const char *end = text + length;
    char *to = *out = calloc(length + (size_t)n * NUMBER + 1, 1);
    if (!to) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the text of a model");
    const char *at = text;
    for (int i = 0; i < m->np_own; ++i) { // in the order of the text
        const carom_datum *d = &m->mech->parameters.item[i];
        int k = 0;
        while (k < n && parameter[k] != i) ++k;
        if (k == n) continue;
        const char *from = d->line > 0 ? find(text, end, d->line, d->column) : NULL;
        if (!from || from < at || d->length > (size_t)(end - from) || memcmp(from, d->text, d->length) != 0)
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "the value of '%.60s' is not one piece of text in the model file",
                              d->key ? d->key->text : "?");
        char number[NUMBER];
        carom_format(number, sizeof number, "%.17g", value[k]);
        memcpy(to, at, (size_t)(from - at));
        to += from - at;
        memcpy(to, number, strlen(number));
        to += strlen(number);
        at = from + d->length;
    }
    memcpy(to, at, (size_t)(end - at));
    return CAROM_OK;
}
