// json.h: is this text one JSON value?  A validator for tests, by the grammar of RFC 8259.
#pragma once
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static inline bool json_value(const char **s, int depth);

static inline void json_space(const char **s) {
    while (**s && strchr(" \t\r\n", **s)) ++*s;
}

static inline bool json_string(const char **s) {
    if (*(*s)++ != '"') return false;
    for (; **s != '"'; ++*s) {
        if ((unsigned char)**s < 0x20) return false;
        if (**s != '\\') continue;
        ++*s;
        if (**s == 'u') {
            for (int i = 0; i < 4; ++i)
                if (!isxdigit((unsigned char)*++*s)) return false;
        } else if (!**s || !strchr("\"\\/bfnrt", **s)) {
            return false;
        }
    }
    ++*s;
    return true;
}

static inline bool json_digits(const char **s) {
    if (!isdigit((unsigned char)**s)) return false;
    while (isdigit((unsigned char)**s)) ++*s;
    return true;
}

static inline bool json_number(const char **s) {
    if (**s == '-') ++*s;
    if (**s == '0') ++*s;
    else if (!json_digits(s)) return false;
    if (**s == '.' && (++*s, !json_digits(s))) return false;
    if (**s == 'e' || **s == 'E') {
        ++*s;
        if (**s == '+' || **s == '-') ++*s;
        if (!json_digits(s)) return false;
    }
    return true;
}

// Members of an object or elements of an array, up to the closing bracket.
static inline bool json_list(const char **s, char close, bool named, int depth) {
    ++*s;
    json_space(s);
    if (**s == close) return ++*s, true;
    for (;;) {
        json_space(s);
        if (named) {
            if (!json_string(s)) return false;
            json_space(s);
            if (*(*s)++ != ':') return false;
        }
        if (!json_value(s, depth + 1)) return false;
        json_space(s);
        if (**s == close) return ++*s, true;
        if (*(*s)++ != ',') return false;
    }
}

static inline bool json_word(const char **s, const char *word) {
    if (strncmp(*s, word, strlen(word)) != 0) return false;
    *s += strlen(word);
    return true;
}

static inline bool json_value(const char **s, int depth) {
    if (depth > 50) return false;
    json_space(s);
    switch (**s) {
    case '{': return json_list(s, '}', true, depth);
    case '[': return json_list(s, ']', false, depth);
    case '"': return json_string(s);
    case 't': return json_word(s, "true");
    case 'f': return json_word(s, "false");
    case 'n': return json_word(s, "null");
    default: return json_number(s);
    }
}

static inline bool json_valid(const char *text) {
    if (!json_value(&text, 0)) return false;
    json_space(&text);
    return *text == 0;
}
