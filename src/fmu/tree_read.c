// tree_read.c: carom_yaml_read() as FMUs have it: it reads the text that tree.c writes.
#include "read/yaml.h"
#include <limits.h>
#include <string.h>

typedef struct reading { pool *memory; const char *at, *end; } reading;

// A number up to the character `stop`.
static bool number(reading *r, char stop, int *x) {
    long n = 0;
    const char *from = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && n < INT_MAX / 10; ++r->at) n = 10 * n + (*r->at - '0');
    *x = (int)n;
    return r->at > from && r->at < r->end && *r->at++ == stop;
}

static bool read_datum(reading *r, carom_datum *d, int depth) {
    int flags, length;
    if (depth > YAML_DEEPEST || r->end - r->at < 2 || r->at[1] != ' ') return false;
    const char kind = *r->at;
    r->at += 2;
    if (!number(r, ' ', &d->count) || !number(r, ' ', &d->line) || !number(r, ' ', &d->column) ||
        !number(r, ' ', &flags) || !number(r, '\n', &length))
        return false;
    if (!strchr("TLM", kind) || length >= r->end - r->at || (kind == 'T' && d->count) || d->count > r->end - r->at ||
        memchr(r->at, 0, (size_t)length))
        return false;
    d->kind = kind == 'M' ? CAROM_MAP : kind == 'L' ? CAROM_LIST : CAROM_TEXT;
    d->flow = flags & 1;
    d->bare = flags & 2;
    d->aligned = flags & 4;
    d->length = (size_t)length;
    d->text = carom_pool_text(r->memory, r->at, d->length);
    d->item = d->count ? carom_pool_take(r->memory, (size_t)d->count * sizeof *d->item) : NULL;
    r->at += length;
    if (!d->text || (d->count && !d->item) || *r->at++ != '\n') return false;
    for (int i = 0; i < d->count; ++i) {
        carom_datum *key = kind == 'M' ? carom_pool_take(r->memory, sizeof *key) : NULL;
        if (kind == 'M' && !(key && read_datum(r, key, depth + 1))) return false;
        if (!read_datum(r, &d->item[i], depth + 1)) return false;
        d->item[i].key = key;
    }
    return true;
}

carom_datum *carom_yaml_read(pool *p, const char *text, size_t length, const char *file, carom_error *err) {
    reading r = {p, text, text + length};
    carom_datum *root = carom_pool_take(p, sizeof *root);
    if (root && read_datum(&r, root, 0) && root->kind == CAROM_MAP) return root;
    carom_fail(err, CAROM_BAD_INPUT, "%.200s: the model in the FMU is damaged; export the FMU again", file);
    return NULL;
}
