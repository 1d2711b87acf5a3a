// escape.c: see escape.h.
#include "base/escape.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// -- characters ------------------------------------------------------------

// The character at s, at most n bytes: its length and number.  Length 0: not UTF-8; overlong forms and surrogates are
// not.
static size_t decode(const unsigned char *s, size_t n, uint32_t *c) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    *c = length == 1 ? s[0] : s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *c = *c << 6 | (s[i] & 0x3Fu);
    }
    return *c < least[length] || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000) ? 0 : length;
}

// Characters that are never written as they are: controls, line separators, writing directions, noncharacters.
static bool unsafe(uint32_t c) {
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
    if ((c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return true;
    return c == 0x061C || c == 0x200E || c == 0x200F || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

// -- the table of targets ------------------------------------------------------------

typedef struct rule {
    const char *special;       // characters of ASCII that have a meaning there
    const char *const *as;     // and what each becomes
    const char *keep;          // controls that stay as they are
    const char *control, *byte; // formats: of an unsafe character, of a byte that is not UTF-8; with its number
    const char *apart;         // pairs of characters that a space separates
    bool bytes;                // an unsafe character is written byte by byte
} rule;

#define AS(...) (const char *const[]){__VA_ARGS__}
#define REPLACEMENT "\xEF\xBF\xBD" // U+FFFD
#define ENTITIES "&amp;", "&lt;", "&gt;", "&quot;", "&#9;", "&#10;", "&#13;"
#define TRIGRAPHS "??"     // ??/ is a backslash to a compiler that knows trigraphs
#define COMMENTS "*/" "/*" // ends a comment; a warning in one
#define SECTION_END "]>"   // gnuplot writes ]]> into SVG as it is

static const rule rules[CAROM_TARGETS] = {
    [CAROM_FOR_TERMINAL] = {"\n\r\t", AS("\\n", "\\r", "\\t"), "", "\\u%04x", "\\x%02x", "", false},
    [CAROM_FOR_C_COMMENT] = {"\\", AS(" "), "\t", " ", " ", TRIGRAPHS COMMENTS, false},
    [CAROM_FOR_C_STRING] = {"\"\\?", AS("\\\"", "\\\\", "\\?"), "", "\\%03o", "\\%03o", "", true},
    [CAROM_FOR_XML] = {"&<>\"\t\n\r", AS(ENTITIES), "", REPLACEMENT, REPLACEMENT, "", false},
    [CAROM_FOR_HTML] = {"&<>\"\t\n\r*", AS(ENTITIES, "&#42;"), "", REPLACEMENT, REPLACEMENT, "", false},
    [CAROM_FOR_SCRIPT] = {"<*", AS("\\u003c", "\\u002a"), "\n\t", "\\u%04x", "\\ufffd", "", false},
    [CAROM_FOR_JSON] = {"\"\\", AS("\\\"", "\\\\"), "", "\\u%04x", "\\ufffd", "", false},
    [CAROM_FOR_YAML] = {"\"\\\n\t\r", AS("\\\"", "\\\\", "\\n", "\\t", "\\r"), "", "\\u%04x", "\\uFFFD", "", false},
    [CAROM_FOR_CSV] = {"\"", AS("\"\""), "", " ", REPLACEMENT, "", false},
    [CAROM_FOR_PLOT_DATA] = {"\"\\`", AS(" ", " ", "?"), "", "?", "?", SECTION_END, false},
    [CAROM_FOR_GNUPLOT] = {"\"\\`@", AS("\\042", "\\\\", "\\140", "\\100"), "", "?", "?", SECTION_END, false},
};

static bool parted(const char *pairs, uint32_t a, uint32_t b) {
    for (; *pairs; pairs += 2)
        if (a == (unsigned char)pairs[0] && b == (unsigned char)pairs[1]) return true;
    return false;
}

static void put_number_of(const char *format, uint32_t c, carom_escape_write *write, void *user) {
    char text[16];
    write(user, text, (size_t)snprintf(text, sizeof text, format, (unsigned)c));
}

void carom_escape(carom_target target, const char *text, size_t length, carom_escape_write *write, void *user) {
    const rule *r = &rules[target];
    const unsigned char *s = (const unsigned char *)text, *const end = s + length;
    for (unsigned before = 0; s < end;) {
        uint32_t c = 0;
        const size_t n = decode(s, (size_t)(end - s), &c);
        const char *special = n == 1 && c ? strchr(r->special, (int)c) : NULL;
        if (n == 0) put_number_of(r->byte, *s, write, user);
        else if (special) write(user, r->as[special - r->special], strlen(r->as[special - r->special]));
        else if (unsafe(c) && !(c && c < 0x80 && strchr(r->keep, (int)c)))
            for (size_t i = 0; i < (r->bytes ? n : 1); ++i) put_number_of(r->control, r->bytes ? s[i] : c, write, user);
        else {
            if (parted(r->apart, before, c)) write(user, " ", 1);
            write(user, (const char *)s, n);
        }
        before = n == 1 ? c : 0;
        s += n ? n : 1;
    }
}

// -- formats ------------------------------------------------------------

static void measure(void *user, const char *text, size_t length) {
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < length; ++i) *(size_t *)user += (s[i] & 0xC0) != 0x80; // columns, not bytes
}

static void put_spaces(carom_escape_write *write, void *user, size_t n) {
    for (; n > 0; --n) write(user, " ", 1);
}

// Bytes of whole characters among the first n; what is no character at all counts as it is.
static size_t whole(const char *text, size_t n) {
    size_t first = n, more = 0;
    while (first > 0 && more < 3 && ((unsigned char)text[first - 1] & 0xC0) == 0x80) --first, ++more;
    const unsigned lead = first > 0 ? (unsigned char)text[first - 1] : 0;
    const size_t needs = lead < 0xC2 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 0;
    return needs > more ? first - 1 : n;
}

// At most `most` bytes (-1: all), of whole characters.
static void put_text(const char *text, int width, int most, bool left, carom_escape_write *write, void *user) {
    const char *const nothing = "(null)";
    if (!text) text = nothing;
    size_t n = 0, shown = 0;
    while ((most < 0 || n < (size_t)most) && text[n]) ++n;
    if (most >= 0 && n == (size_t)most) n = whole(text, n);
    carom_escape(CAROM_FOR_TERMINAL, text, n, measure, &shown);
    const size_t room = width > 0 && (size_t)width > shown ? (size_t)width - shown : 0;
    if (!left) put_spaces(write, user, room);
    carom_escape(CAROM_FOR_TERMINAL, text, n, write, user);
    if (left) put_spaces(write, user, room);
}

enum { SPEC = 40, NUMBER = 400 }; // %f of a double has at most 309 digits before the point

// A conversion: how it is written, without its length, and what it says.
typedef struct spec {
    char flags[8], length[3], kind;
    int width, precision; // -1: none
} spec;

static const char *read_spec(const char *s, spec *x, va_list *args) {
    size_t n = 0;
    *x = (spec){.width = -1, .precision = -1};
    for (; *s && strchr("-+ #0", *s); ++s)
        if (n + 1 < sizeof x->flags) x->flags[n++] = *s;
    if (*s == '*') {
        x->width = va_arg(*args, int), ++s;
        if (x->width < 0 && n + 1 < sizeof x->flags) x->flags[n] = '-', x->width = -x->width;
    } else {
        for (; *s >= '0' && *s <= '9'; ++s) x->width = (x->width < 0 ? 0 : x->width) * 10 + (*s - '0');
    }
    if (*s == '.') {
        x->precision = 0, ++s;
        if (*s == '*') x->precision = va_arg(*args, int), ++s;
        else
            for (; *s >= '0' && *s <= '9'; ++s) x->precision = x->precision * 10 + (*s - '0');
    }
    for (n = 0; *s && strchr("hlzj", *s); ++s)
        if (n + 1 < sizeof x->length) x->length[n++] = *s;
    x->kind = *s;
    return *s ? s + 1 : s;
}

static intmax_t signed_argument(const spec *x, va_list *args) {
    switch (x->length[0]) {
    case 'j': return va_arg(*args, intmax_t);
    case 'z': return va_arg(*args, ptrdiff_t);
    case 'l': return x->length[1] == 'l' ? va_arg(*args, long long) : va_arg(*args, long);
    default: return va_arg(*args, int);
    }
}

static uintmax_t unsigned_argument(const spec *x, va_list *args) {
    switch (x->length[0]) {
    case 'j': return va_arg(*args, uintmax_t);
    case 'z': return va_arg(*args, size_t);
    case 'l': return x->length[1] == 'l' ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned long);
    default: return va_arg(*args, unsigned);
    }
}

static void put_number(const spec *x, va_list *args, carom_escape_write *write, void *user) {
    char format[SPEC], text[NUMBER];
    const bool real = strchr("eEfFgGaA", x->kind) != NULL;
    const int width = x->width > 0 && x->width < NUMBER ? x->width : 0;
    const int precision = x->precision > 60 ? 60 : x->precision;
    int n = snprintf(format, sizeof format, "%%%s", x->flags);
    if (width > 0) n += snprintf(format + n, sizeof format - (size_t)n, "%d", width);
    if (precision >= 0) n += snprintf(format + n, sizeof format - (size_t)n, ".%d", precision);
    snprintf(format + n, sizeof format - (size_t)n, "%s%c", real || x->kind == 'p' ? "" : "j", x->kind);
    if (real) n = snprintf(text, sizeof text, format, va_arg(*args, double));
    else if (x->kind == 'p') n = snprintf(text, sizeof text, format, va_arg(*args, void *));
    else if (x->kind == 'd' || x->kind == 'i') n = snprintf(text, sizeof text, format, signed_argument(x, args));
    else n = snprintf(text, sizeof text, format, unsigned_argument(x, args));
    write(user, text, n < 0 ? 0 : n < NUMBER ? (size_t)n : NUMBER - 1);
}

void carom_safe_print(carom_escape_write *write, void *user, const char *format, va_list given) {
    va_list args;
    va_copy(args, given);
    for (const char *s = format; *s;) {
        const size_t plain = strcspn(s, "%");
        if (plain) write(user, s, plain);
        s += plain;
        if (!*s) break;
        spec x;
        s = read_spec(s + 1, &x, &args);
        const bool left = strchr(x.flags, '-') != NULL;
        if (x.kind == '%') write(user, "%", 1);
        else if (x.kind == 's') put_text(va_arg(args, const char *), x.width, x.precision, left, write, user);
        else if (x.kind == 'c') put_text((const char[]){(char)va_arg(args, int), 0}, x.width, -1, left, write, user);
        else if (x.kind && strchr("diuxXoeEfFgGaAp", x.kind)) put_number(&x, &args, write, user);
        else break; // nothing is known of what follows
    }
    va_end(args);
}

typedef struct buffer { char *text; size_t size, used; } buffer;

// Whole characters and escapes or nothing: what is behind a piece that does not fit is dropped, too.
static void to_buffer(void *user, const char *text, size_t length) {
    buffer *b = user;
    const unsigned char *s = (const unsigned char *)text;
    if (b->used + length >= b->size) {
        length = b->size - 1 - b->used;
        while (length > 0 && (s[length] & 0xC0) == 0x80) --length;
        memcpy(b->text + b->used, text, length);
        b->size = b->used + length + 1; // full: nothing fits any more
    } else {
        memcpy(b->text + b->used, text, length);
    }
    b->text[b->used += length] = 0;
}

char *carom_safe_text(char *text, size_t size, const char *format, va_list args) {
    buffer b = {text, size, 0};
    if (size == 0) return text;
    text[0] = 0;
    carom_safe_print(to_buffer, &b, format, args);
    return text;
}
