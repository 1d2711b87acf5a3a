// tree.c: writes the data of a model file.
#include "base/grow.h"
#include "fmu/tree.h"
#include "read/yaml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_datum(carom_text *b, const carom_datum *d) {
    char head[120];
    const int flags = d->flow + 2 * d->bare + 4 * d->aligned;
    const int n = snprintf(head, sizeof head, "%c %d %d %d %d %zu\n",
                           d->kind == CAROM_MAP    ? 'M'
                           : d->kind == CAROM_LIST ? 'L'
                                                   : 'T',
                           d->count, d->line, d->column, flags, d->length);
    carom_text_append(b, head, (size_t)n);
    carom_text_append(b, d->text, d->length);
    carom_text_append(b, "\n", 1);
    for (int i = 0; i < d->count; ++i) {
        if (d->kind == CAROM_MAP) put_datum(b, d->item[i].key);
        put_datum(b, &d->item[i]);
    }
}

char *carom_tree_text(const char *text, size_t length, const char *file, carom_error *err) {
    pool p = {NULL};
    carom_text b = {0};
    const carom_datum *root = carom_yaml_read(&p, text, length, file, err);
    if (root) put_datum(&b, root);
    carom_pool_free(&p);
    if (root && b.failed) carom_fail(err, CAROM_NO_MEMORY, "not enough memory to write the model");
    if (b.failed) free(b.at), b.at = NULL;
    return b.at;
}
