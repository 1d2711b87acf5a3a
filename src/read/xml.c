// xml.c: a small reader of XML.
#include "read/xml.h"
#include "base/text.h"
#include <string.h>

enum { DEEPEST = 100 }; // elements: the reader calls itself

typedef struct scan {
    pool *memory;
    const char *at, *end, *file;
    int line;
    carom_error *err;
} scan;

static void *wrong(scan *s, const char *what) {
    carom_fail(s->err, CAROM_BAD_INPUT, "%.300s:%d: %s", s->file, s->line, what);
    return NULL;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool name_letter(char c) {
    return carom_in_name(c) || c == '-' || c == ':' || (unsigned char)c >= 128;
}
static bool starts(const scan *s, const char *word) {
    return (size_t)(s->end - s->at) >= strlen(word) && memcmp(s->at, word, strlen(word)) == 0;
}

static void step(scan *s) { s->line += *s->at++ == '\n'; }
static void skip_blanks(scan *s) { while (s->at < s->end && blank(*s->at)) step(s); }

// To behind `word`; false: it is not there.
static bool skip_past(scan *s, const char *word) {
    while (s->at < s->end && !starts(s, word)) step(s);
    if (s->at == s->end) return false;
    s->at += strlen(word);
    return true;
}

static const char *read_name(scan *s) {
    const char *from = s->at;
    while (s->at < s->end && name_letter(*s->at)) ++s->at;
    return s->at > from ? carom_pool_text(s->memory, from, (size_t)(s->at - from)) : NULL;
}

// A value with its entities; those that are not known stay as they are.
static const char *read_value(scan *s) {
    static const struct {
        const char *name;
        char c;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    const char quote = s->at < s->end ? *s->at : 0,
               *stop = quote == '"' || quote == '\'' ? memchr(s->at + 1, quote, (size_t)(s->end - s->at - 1)) : NULL;
    if (!stop) return wrong(s, "an attribute needs a value in quotes");
    char *text = carom_pool_take(s->memory, (size_t)(stop - s->at)), *to = text;
    if (!text) return wrong(s, "no memory");
    for (++s->at; s->at < stop;) {
        size_t k = 0, n = sizeof known / sizeof *known;
        while (k < n && !starts(s, known[k].name)) ++k;
        if (k < n) *to++ = known[k].c, s->at += strlen(known[k].name);
        else *to++ = *s->at, step(s);
    }
    *to = 0;
    ++s->at;
    return text;
}

static bool read_attributes(scan *s, xml_element *e) {
    xml_attribute **end = &e->attributes;
    for (;;) {
        skip_blanks(s);
        if (s->at == s->end) return wrong(s, "the file ends inside an element"), false;
        if (*s->at == '>' || *s->at == '/') return true;
        xml_attribute *a = carom_pool_take(s->memory, sizeof *a);
        if (!a || !(a->name = read_name(s))) return wrong(s, "this is no attribute; write name=\"value\""), false;
        skip_blanks(s);
        if (s->at == s->end || *s->at != '=') return wrong(s, "an attribute needs a value: name=\"value\""), false;
        ++s->at;
        skip_blanks(s);
        if (!(a->value = read_value(s))) return false;
        *end = a;
        end = &a->next;
    }
}

// What stands between elements; then at '<' of one, or at the end.  False: wrong.
static bool skip_between(scan *s) {
    for (;;) {
        while (s->at < s->end && *s->at != '<') step(s);
        if (s->at == s->end) return true;
        const char *stop = starts(s, "<!--")        ? "-->"
                           : starts(s, "<![CDATA[") ? "]]>"
                           : starts(s, "<?")        ? "?>"
                           : starts(s, "<!")        ? ">"
                                                    : NULL;
        if (!stop) return true;
        if (!skip_past(s, stop)) return wrong(s, "the file ends inside a comment or declaration"), false;
    }
}

static xml_element *read_element(scan *s, int depth) {
    xml_element *e = carom_pool_take(s->memory, sizeof *e);
    if (!e) return wrong(s, "no memory");
    *e = (xml_element){.line = s->line};
    ++s->at;
    if (depth > DEEPEST) return wrong(s, "elements are nested too deeply");
    if (!(e->name = read_name(s))) return wrong(s, "expected a name after '<'");
    if (!read_attributes(s, e)) return NULL;
    if (*s->at == '/') return ++s->at < s->end && *s->at == '>' ? ++s->at, e : wrong(s, "expected '>' after '/'");
    ++s->at;
    for (;;) {
        if (!skip_between(s)) return NULL;
        if (s->at == s->end) {
            s->line = e->line;
            return wrong(s, "this element has no end");
        }
        if (starts(s, "</")) break;
        xml_element *c = read_element(s, depth + 1);
        if (!c) return NULL;
        *(e->last ? &e->last->next : &e->child) = c;
        e->last = c;
    }
    s->at += 2;
    const char *name = read_name(s);
    if (!name || strcmp(name, e->name) != 0) return wrong(s, "the end of another element is expected here");
    skip_blanks(s);
    return s->at < s->end && *s->at == '>' ? ++s->at, e : wrong(s, "expected '>' at the end of an element");
}

xml_element *carom_xml_read(pool *memory, const char *text, size_t length, const char *file, carom_error *err) {
    scan s = {memory, text, text + length, file, 1, err};
    if (!skip_between(&s)) return NULL;
    return s.at < s.end ? read_element(&s, 0) : wrong(&s, "there is no element");
}

const char *carom_xml_get(const xml_element *e, const char *attribute) {
    for (const xml_attribute *a = e ? e->attributes : NULL; a; a = a->next)
        if (strcmp(a->name, attribute) == 0) return a->value;
    return NULL;
}

const xml_element *carom_xml_child(const xml_element *e, const char *name) {
    const xml_element *c = e ? e->child : NULL;
    while (c && strcmp(c->name, name) != 0) c = c->next;
    return c;
}

const xml_element *carom_xml_again(const xml_element *e) {
    const xml_element *c = e->next;
    while (c && strcmp(c->name, e->name) != 0) c = c->next;
    return c;
}
