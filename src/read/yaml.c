// yaml.c: libyaml's events to data.  Limits are checked as the data grow, not after.
#include "base/grow.h"
#include "read/yaml.h"
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct builder {
    pool *memory;
    const char *file;
    carom_error *err;
    yaml_parser_t parser;
    carom_datum open[YAML_DEEPEST]; // maps and lists that are not finished
    int first[YAML_DEEPEST];        // where the children of each start among those that wait
    carom_datum *key[YAML_DEEPEST]; // key of an open map that waits for its value
    carom_datum *waiting;           // children of all that is open
    int count;
    int depth, documents;
    carom_datum *root;
} builder;

static carom_status fail_at(builder *b, size_t line, size_t column, const char *what) {
    return carom_fail(b->err, CAROM_BAD_INPUT, "%.200s:%zu:%zu: %.600s", b->file, line, column, what);
}

static carom_status fail_mark(builder *b, const yaml_mark_t *mark, const char *what) {
    return fail_at(b, mark->line + 1, mark->column + 1, what);
}

// Length of the UTF-8 character at s (at most n bytes), 0 when it is none: overlong forms, surrogates and
// numbers beyond U+10FFFF are none.
static size_t utf8(const unsigned char *s, size_t n) {
    const unsigned c = s[0];
    const size_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F)) return 0;
    if ((c == 0xF0 && s[1] < 0x90) || (c == 0xF4 && s[1] > 0x8F)) return 0;
    return length;
}

carom_status carom_text_check(const char *text, size_t n, const char *file, carom_error *err) {
    builder to = {.file = file, .err = err}, *const b = &to;
    const unsigned char *s = (const unsigned char *)text;
    size_t line = 1, column = 1;
    for (size_t i = 0, step = 1; i < n; i += step) {
        step = utf8(s + i, n - i);
        if (step == 0)
            return fail_at(b, line, column,
                           "this byte is not UTF-8 text; save the file as UTF-8 (is it a binary file?)");
        if (s[i] == 0)
            return fail_at(b, line, column, "a zero byte; a model file is plain text (is it a binary file?)");
        if ((s[i] < 0x20 && !strchr("\t\n\r", s[i])) || s[i] == 0x7F)
            return fail_at(b, line, column, "a control character; a model file is plain text");
        ++column;
        if (s[i] == '\n') ++line, column = 1;
    }
    return CAROM_OK;
}

static int by_text(const void *a, const void *b) {
    const carom_datum *x = *(const carom_datum *const *)a, *y = *(const carom_datum *const *)b;
    const int order = strcmp(x->text, y->text);
    return order ? order : x->line != y->line ? (x->line < y->line ? -1 : 1) : (x->column < y->column ? -1 : 1);
}

static carom_status no_memory(const builder *b) {
    return carom_fail(b->err, CAROM_NO_MEMORY, "not enough memory to read %.200s", b->file);
}

static carom_status check_keys(builder *b, const carom_datum *map) {
    if (map->count < 2) return CAROM_OK;
    const carom_datum **keys = malloc((size_t)map->count * sizeof *keys);
    if (!keys) return no_memory(b);
    int n = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) keys[n++] = c->key;
    qsort(keys, (size_t)n, sizeof *keys, by_text);
    carom_status status = CAROM_OK;
    for (int i = 1; i < n && status == CAROM_OK; ++i)
        if (strcmp(keys[i - 1]->text, keys[i]->text) == 0)
            status = carom_fail(b->err, CAROM_BAD_INPUT,
                                "%.200s:%d:%d: duplicate key '%.60s' (first in line %d); remove one", b->file,
                                keys[i]->line, keys[i]->column, keys[i]->text, keys[i - 1]->line);
    free(keys);
    return status;
}

// A finished datum becomes the next child of what is open; nothing is: it is the whole text.
static carom_status put(builder *b, const carom_datum *d) {
    if (b->depth == 0) {
        b->root = carom_pool_take(b->memory, sizeof *b->root);
        if (!b->root) return no_memory(b);
        *b->root = *d;
        return CAROM_OK;
    }
    if (!CAROM_GROW(b->waiting, b->count)) return no_memory(b);
    b->waiting[b->count++] = *d;
    return CAROM_OK;
}

static bool wants_key(const builder *b) {
    return b->depth > 0 && b->open[b->depth - 1].kind == CAROM_MAP && !b->key[b->depth - 1];
}

static void begin(builder *b, carom_datum_kind kind, const yaml_event_t *e, carom_datum *d) {
    *d = (carom_datum){.kind = kind,
                       .text = "",
                       .line = (int)e->start_mark.line + 1,
                       .column = (int)e->start_mark.column + 1,
                       .flow = b->depth > 0 && b->open[b->depth - 1].flow};
    if (b->depth == 0 || wants_key(b)) return;
    d->key = b->key[b->depth - 1];
    b->key[b->depth - 1] = NULL;
}

static carom_status add_text(builder *b, const yaml_event_t *e) {
    const bool is_key = wants_key(b);
    carom_datum d;
    begin(b, CAROM_TEXT, e, &d);
    const char *text = (const char *)e->data.scalar.value;
    d.length = e->data.scalar.length;
    if (memchr(text, 0, d.length)) return fail_mark(b, &e->start_mark, "a zero byte in a text; remove the \\0");
    d.text = carom_pool_text(b->memory, text, d.length);
    if (!d.text) return no_memory(b);
    d.bare = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const bool quoted = e->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                        e->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    const size_t width = e->end_mark.column - e->start_mark.column, quotes = quoted ? 2 : 0;
    d.aligned = (d.bare || quoted) && e->start_mark.line == e->end_mark.line &&
                width == carom_characters(d.text, d.length) + quotes;
    if (d.aligned && quoted) ++d.column;
    if (!is_key) return put(b, &d);
    carom_datum *key = b->key[b->depth - 1] = carom_pool_take(b->memory, sizeof *key);
    if (!key) return no_memory(b);
    *key = d;
    return CAROM_OK;
}

static carom_status open_node(builder *b, const yaml_event_t *e, carom_datum_kind kind, bool flow) {
    if (b->depth == YAML_DEEPEST)
        return fail_mark(b, &e->start_mark, "nested more than 64 deep; a model needs four levels");
    if (wants_key(b))
        return fail_mark(b, &e->start_mark, "a key must be a word, not a list or a map; check the brackets here");
    carom_datum *d = &b->open[b->depth];
    begin(b, kind, e, d);
    d->flow = d->flow || flow;
    b->first[b->depth] = b->count;
    b->key[b->depth++] = NULL;
    return CAROM_OK;
}

// The children of what ends here move behind each other.
static carom_status close_node(builder *b) {
    carom_datum *d = &b->open[--b->depth];
    d->count = b->count - b->first[b->depth];
    b->count = b->first[b->depth];
    if (d->count > 0) {
        d->item = carom_pool_take(b->memory, (size_t)d->count * sizeof *d->item);
        if (!d->item) return no_memory(b);
        memcpy(d->item, b->waiting + b->count, (size_t)d->count * sizeof *d->item);
    }
    if (d->kind == CAROM_MAP) CAROM_TRY(check_keys(b, d));
    return put(b, d);
}

static carom_status refuse_extras(builder *b, const yaml_event_t *e, const yaml_char_t *anchor,
                                  const yaml_char_t *tag) {
    if (anchor)
        return fail_mark(
            b, &e->start_mark,
            "anchors (&name) are not used in model files; write the value where it is needed, or make it a parameter");
    if (tag)
        return fail_mark(b, &e->start_mark,
                         "tags (!name) are not used in model files; remove it, or put the text in quotes");
    return CAROM_OK;
}

static carom_status accept(builder *b, const yaml_event_t *e) {
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++b->documents > 1)
            return fail_mark(b, &e->start_mark,
                             "a second document starts here; a model file holds one model (remove the ---)");
        return CAROM_OK;
    case YAML_ALIAS_EVENT:
        return fail_mark(b, &e->start_mark,
                         "aliases (*name) are not used in model files; write the value out, or put an expression that "
                         "starts with * in quotes");
    case YAML_SCALAR_EVENT:
        CAROM_TRY(refuse_extras(b, e, e->data.scalar.anchor, e->data.scalar.tag));
        return add_text(b, e);
    case YAML_SEQUENCE_START_EVENT:
        CAROM_TRY(refuse_extras(b, e, e->data.sequence_start.anchor, e->data.sequence_start.tag));
        return open_node(b, e, CAROM_LIST, e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
    case YAML_MAPPING_START_EVENT:
        CAROM_TRY(refuse_extras(b, e, e->data.mapping_start.anchor, e->data.mapping_start.tag));
        return open_node(b, e, CAROM_MAP, e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
    case YAML_MAPPING_END_EVENT: case YAML_SEQUENCE_END_EVENT: return close_node(b);
    default: return CAROM_OK;
    }
}

// libyaml's own complaint, with what usually causes it.
static carom_status fail_yaml(builder *b) {
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR) return no_memory(b);
    const char *problem = p->problem ? p->problem : "this is not YAML";
    const char *remedy = "check indentation, brackets and quotes here and in the line above";
    if (strstr(problem, "cannot start any token"))
        remedy = "indent with spaces, not tabs; put a text that starts with @, ` or % in quotes";
    else if (strstr(problem, "mapping values are not allowed"))
        remedy = "check the indentation; put a text that holds ': ' in quotes";
    else if (strstr(problem, "unexpected end of stream"))
        remedy = "close the quote";
    return carom_fail(b->err, CAROM_BAD_INPUT, "%.200s:%zu:%zu: %s%s%s; %s", b->file, p->problem_mark.line + 1,
                      p->problem_mark.column + 1, p->context ? p->context : "", p->context ? ": " : "", problem,
                      remedy);
}

static carom_status build(builder *b) {
    for (;;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&b->parser, &e)) return fail_yaml(b);
        const carom_status status = accept(b, &e);
        const bool end = e.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
        CAROM_TRY(status);
        if (end) break;
    }
    if (!b->root) return fail_at(b, 1, 1, "the file is empty; a model starts with `carom: 1`");
    if (b->root->kind != CAROM_MAP)
        return fail_at(b, (size_t)b->root->line, (size_t)b->root->column,
                       "a model is a map of sections (`carom: 1`, `coordinates:`, ...), this is something else");
    return CAROM_OK;
}

carom_datum *carom_yaml_read(pool *p, const char *text, size_t length, const char *file, carom_error *err) {
    builder b = {.memory = p, .file = file, .err = err};
    if (length > YAML_BYTES) {
        fail_at(&b, 1, 1, "the file is larger than 256 MB; most model files are a few kB (is it a result file?)");
        return NULL;
    }
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, length -= 3; // byte order mark
    if (carom_text_check(text, length, file, err) != CAROM_OK) return NULL;
    if (!yaml_parser_initialize(&b.parser)) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read %.200s", file);
        return NULL;
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
    const carom_status status = build(&b);
    yaml_parser_delete(&b.parser);
    free(b.waiting);
    return status == CAROM_OK ? b.root : NULL;
}
