// parse.c: text to graph.
//
//   expression  = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum         = term { ("+" | "-") term }
//   term        = signed { ("*" | "/") signed }
//   signed      = { "+" | "-" } power
//   power       = atom [ "^" signed ]                       so -x^2 = -(x^2), 2^-1, 2^3^2 = 2^(3^2)
//   atom        = number | name { "'" } | name "(" expression { "," expression } ")" | "(" expression ")"
//
// Recursive descent; nesting is limited, so no text can exhaust the stack.  The first error wins: its byte and
// one sentence.
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "expr/foreign.h"
#include "expr/graph.h"
#include <carom/option.h>
#include <math.h>
#include <string.h>

// chosen: what the stack bears; arguments; a double written out has 309; characters in a message
enum { NESTING = 200, ARGUMENTS = 16, DIGITS = 400, SHOWN = 60 };

typedef struct parser {
    carom_graph *g;
    const char *text;
    size_t at, length;
    const carom_scope *scope;
    size_t *offset;
    carom_error *err;
    int depth;
} parser;

typedef struct function { const char *name; carom_op op; } function;

static const function functions[] = {
    {"sin", CAROM_OP_SIN},   {"cos", CAROM_OP_COS},     {"tan", CAROM_OP_TAN},     {"asin", CAROM_OP_ASIN},
    {"acos", CAROM_OP_ACOS}, {"atan", CAROM_OP_ATAN},   {"atan2", CAROM_OP_ATAN2}, {"sinh", CAROM_OP_SINH},
    {"cosh", CAROM_OP_COSH}, {"tanh", CAROM_OP_TANH},   {"exp", CAROM_OP_EXP},     {"log", CAROM_OP_LOG},
    {"sqrt", CAROM_OP_SQRT}, {"abs", CAROM_OP_ABS},     {"sign", CAROM_OP_SIGN},   {"min", CAROM_OP_MIN},
    {"max", CAROM_OP_MAX},   {"hypot", CAROM_OP_HYPOT}, {"floor", CAROM_OP_FLOOR}, {"if", CAROM_OP_IF},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static carom_node expression(parser *p);
static carom_node signed_power(parser *p);

// -- characters -------------------------------------------------------------------------------------

// The byte n places on; -1 at the end.
static int peek(const parser *p, size_t n) { return p->at + n < p->length ? (unsigned char)p->text[p->at + n] : -1; }

static int next(parser *p) { // skips blanks
    while (peek(p, 0) == ' ' || peek(p, 0) == '\t' || peek(p, 0) == '\n' || peek(p, 0) == '\r') ++p->at;
    return peek(p, 0);
}

#define FAIL(p, place, ...)                                                                        \
    (*(p)->offset = (place), carom_fail((p)->err, CAROM_BAD_INPUT, __VA_ARGS__), (carom_node)CAROM_NONE)

// An operator of another language, here.  False: there is none.
static bool foreign(parser *p) {
    const char *write = NULL;
    next(p);
    const size_t n = carom_foreign_operator(p->text + p->at, p->length - p->at, &write);
    if (n) (void)FAIL(p, p->at, "'%.*s' is not an operator; write %s", (int)n, p->text + p->at, write);
    return n > 0;
}

// What stands here instead of what was expected.
static carom_node unexpected(parser *p, const char *wanted) {
    const int c = next(p);
    if (c < 0) return FAIL(p, p->at, "unexpected end of expression; expected %s", wanted);
    const char *write = NULL;
    const size_t n = carom_foreign_sign(p->text + p->at, p->length - p->at, &write);
    if (n)
        return FAIL(p, p->at, "'%.*s' is not allowed in an expression; write %s", (int)n, p->text + p->at, write);
    if (c == '|') return FAIL(p, p->at, "'|' is not an operator; an absolute value is written abs(x)");
    if (c > 126 || c < 32)
        return FAIL(p, p->at, "byte 0x%02x is not allowed in an expression; expressions are plain ASCII", (unsigned)c);
    return FAIL(p, p->at, "expected %s, got '%c'", wanted, c);
}

static bool skip(parser *p, int c) {
    if (next(p) != c) return false;
    ++p->at;
    return true;
}

static carom_node apply(parser *p, carom_op op, carom_node a, carom_node b, carom_node c) {
    const carom_node x = carom_graph_apply(p->g, op, a, b, c);
    if (x != CAROM_NONE) return carom_graph_write(p->g, x), x;
    *p->offset = p->at;
    carom_fail(p->err, CAROM_NO_MEMORY,
               "the expressions are too large: not enough memory, or more than 4 million nodes");
    return CAROM_NONE;
}

static carom_node too_deep(parser *p) {
    return FAIL(p, p->at, "more than %d levels of nesting; name a part of this expression", NESTING);
}

// -- names and calls ---------------------------------------------------------------------------------

static const function *find_function(const char *name, size_t length) {
    for (int i = 0; i < FUNCTIONS; ++i)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) return &functions[i];
    return NULL;
}

static const char *function_name(const void *user, int i) {
    (void)user;
    return i < FUNCTIONS ? functions[i].name : NULL;
}

static bool is_pi(const char *name, size_t length) { return length == 2 && name[0] == 'p' && name[1] == 'i'; }

bool carom_parse_reserved(const char *name, size_t length) {
    return find_function(name, length) || is_pi(name, length);
}

static carom_node unknown_function(parser *p, size_t start, size_t length) {
    char word[SHOWN + 1];
    const int n = length < SHOWN ? (int)length : SHOWN;
    memcpy(word, p->text + start, (size_t)n);
    word[n] = 0;
    const char *const write = carom_foreign_function(word, strlen(word)), *const dot = strrchr(word, '.');
    if (write) return FAIL(p, start, "unknown function '%s'; write %s", word, write);
    const char *near = dot && find_function(dot + 1, strlen(dot + 1)) ? dot + 1 : NULL; // math.sin
    if (!near) near = carom_nearest(word, function_name, NULL);
    if (near) return FAIL(p, start, "unknown function '%s'; did you mean '%s'?", word, near);
    return FAIL(p, start, "unknown function '%s'; for a product write '*' before the parenthesis", word);
}

// A call that only the caller may know.
static carom_node foreign_call(parser *p, size_t start, size_t length, int n, const carom_node *args) {
    if (!p->scope->call) return unknown_function(p, start, length);
    if (p->err) p->err->text[0] = 0;
    const carom_node x = p->scope->call(p->scope->user, p->g, p->text + start, length, n, args, p->err);
    if (x != CAROM_NONE) return x;
    if (p->err && !p->err->text[0]) return unknown_function(p, start, length);
    *p->offset = start;
    return CAROM_NONE;
}

// The arguments up to the closing parenthesis; their number, or -1.
static int arguments(parser *p, size_t start, size_t length, carom_node *args) {
    if (skip(p, ')')) return 0;
    for (int n = 0;; ++n) {
        if (n == ARGUMENTS)
            return FAIL(p, start, "%.*s has more than %d arguments", length < SHOWN ? (int)length : SHOWN,
                        p->text + start, ARGUMENTS);
        args[n] = expression(p);
        if (args[n] == CAROM_NONE) return -1;
        if (skip(p, ',')) continue;
        if (skip(p, ')')) return n + 1;
        unexpected(p, "',' or ')'");
        return -1;
    }
}

static carom_node call(parser *p, size_t start, size_t length) {
    carom_node args[ARGUMENTS];
    const int n = arguments(p, start, length, args);
    if (n < 0) return CAROM_NONE;
    const function *f = find_function(p->text + start, length);
    if (!f) return foreign_call(p, start, length, n, args);
    const int wanted = carom_op_arity(f->op);
    if (f->op == CAROM_OP_MIN || f->op == CAROM_OP_MAX) {
        if (n == 1 && p->scope->call) return foreign_call(p, start, length, n, args);
        if (n < 2) return FAIL(p, start, "%s requires at least 2 arguments, got %d", f->name, n);
        carom_node x = args[0];
        for (int i = 1; i < n && x != CAROM_NONE; ++i) x = apply(p, f->op, x, args[i], CAROM_NONE);
        return x;
    }
    if (n != wanted)
        return FAIL(p, start, "%s requires %d argument%s, got %d", f->name, wanted, wanted == 1 ? "" : "s", n);
    return apply(p, f->op, args[0], n > 1 ? args[1] : CAROM_NONE, n > 2 ? args[2] : CAROM_NONE);
}

// Letters, digits and _, and dots that stand between such.
static size_t name_length(const parser *p) {
    size_t n = 0;
    for (;; ++n) {
        const int c = peek(p, n), after = peek(p, n + 1);
        if (carom_in_word(c) || (c == '.' && carom_in_word(after))) continue;
        return n;
    }
}

static carom_node name(parser *p) {
    const size_t start = p->at, length = name_length(p);
    const char *text = p->text + start;
    const int shown = length < SHOWN ? (int)length : SHOWN;
    int primes = 0;
    p->at += length;
    for (; peek(p, 0) == '\''; ++p->at) ++primes;
    if (next(p) == '(') {
        if (primes)
            return FAIL(p, start, "%.*s' is a function call; a prime is only allowed after a name", shown, text);
        ++p->at;
        return call(p, start, length);
    }
    if (length == 2 && memcmp(text, "if", 2) == 0)
        return FAIL(p, start, "if is a function; write if(condition, then, else)");
    if (find_function(text, length))
        return FAIL(p, start, "%.*s is a function and needs arguments in parentheses", shown, text);
    if (is_pi(text, length)) {
        if (primes) return FAIL(p, start, "pi is constant; its rate is zero");
        return carom_graph_number(p->g, 3.14159265358979323846);
    }
    if (p->err) p->err->text[0] = 0;
    carom_node x = CAROM_NONE;
    if (p->scope->lookup) x = p->scope->lookup(p->scope->user, p->g, text, length, primes, p->err);
    if (x != CAROM_NONE) return x;
    const char *write = NULL;
    if (carom_in_word(peek(p, 0))) { // "not x", "ln x"
        if (!carom_foreign_operator(text, length, &write)) write = carom_foreign_function(text, length);
        if (write) return FAIL(p, start, "unknown name '%.*s'; write %s", shown, text, write);
    }
    if (!p->err || !p->err->text[0]) return FAIL(p, start, "unknown name '%.*s'", shown, text);
    static const char UNKNOWN[] = "unknown name";
    if (strncmp(p->err->text, UNKNOWN, sizeof UNKNOWN - 1) == 0 && (write = carom_foreign_constant(text, length)))
        return FAIL(p, start, "unknown name '%.*s'; write %s", shown, text, write);
    *p->offset = start;
    return CAROM_NONE;
}

// -- numbers -----------------------------------------------------------------------------------------

static size_t digits(const parser *p, size_t n) {
    while (carom_is_digit(peek(p, n))) ++n;
    return n;
}

static carom_node number(parser *p) {
    const size_t start = p->at;
    size_t n = digits(p, 0);
    if (peek(p, n) == '.') n = digits(p, n + 1);
    if (peek(p, n) == 'e' || peek(p, n) == 'E') {
        const size_t sign = peek(p, n + 1) == '+' || peek(p, n + 1) == '-', end = digits(p, n + 1 + sign);
        if (end == n + 1 + sign) return FAIL(p, start + n, "the exponent of this number has no digits");
        n = end;
    }
    if (n > DIGITS) return FAIL(p, start, "this number has more than %d characters", DIGITS);
    char text[DIGITS + 1];
    memcpy(text, p->text + start, n);
    text[n] = 0;
    const double value = carom_number(text, NULL);
    p->at += n;
    if (!isfinite(value)) return FAIL(p, start, "the number %.40s is too large", text);
    if (carom_is_letter(peek(p, 0)))
        return FAIL(p, p->at, "missing operator between a number and a name; write '*' for a product");
    if (peek(p, 0) == '.') return FAIL(p, p->at, "this number has a second decimal point");
    return carom_graph_number(p->g, value);
}

// -- the grammar -------------------------------------------------------------------------------------

static carom_node atom(parser *p) {
    const int c = next(p);
    if (carom_is_letter(c)) return name(p);
    if (carom_is_digit(c) || (c == '.' && carom_is_digit(peek(p, 1)))) return number(p);
    if (c == '!' || c == '~') return FAIL(p, p->at, "'%c' is not an operator; write if(a, 0, 1)", c);
    if (c != '(') return unexpected(p, "a number, a name or '('");
    const size_t start = p->at++;
    const carom_node x = expression(p);
    if (x == CAROM_NONE) return x;
    if (next(p) < 0) return FAIL(p, start, "unmatched '('");
    return skip(p, ')') ? x : unexpected(p, "an operator or ')'");
}

static carom_node power(parser *p) {
    const carom_node a = atom(p);
    if (a == CAROM_NONE || !skip(p, '^')) return a;
    const carom_node b = signed_power(p);
    return b == CAROM_NONE ? b : apply(p, CAROM_OP_POW, a, b, CAROM_NONE);
}

// Every way down the grammar comes through here or through expression().
static carom_node signed_power(parser *p) {
    bool minus = false;
    for (int c = next(p); c == '+' || c == '-'; c = next(p)) {
        minus ^= c == '-';
        ++p->at;
    }
    if (++p->depth > 2 * NESTING) return too_deep(p);
    const carom_node x = power(p);
    --p->depth;
    return x == CAROM_NONE || !minus ? x : apply(p, CAROM_OP_NEG, x, CAROM_NONE, CAROM_NONE);
}

static carom_node term(parser *p) {
    carom_node x = signed_power(p);
    while (x != CAROM_NONE) {
        const int c = next(p);
        if (c != '*' && c != '/') return x;
        if (c == '*' && peek(p, 1) == '*') return FAIL(p, p->at, "'**' is not an operator; a power is written '^'");
        if (c == '/' && peek(p, 1) == '/') return FAIL(p, p->at, "'//' is not an operator; write floor(x/y)");
        ++p->at;
        const carom_node y = signed_power(p);
        x = y == CAROM_NONE ? y : apply(p, c == '*' ? CAROM_OP_MUL : CAROM_OP_DIV, x, y, CAROM_NONE);
    }
    return x;
}

static carom_node sum(parser *p) {
    carom_node x = term(p);
    while (x != CAROM_NONE) {
        const int c = next(p);
        if (c != '+' && c != '-') return x;
        ++p->at;
        const carom_node y = term(p);
        x = y == CAROM_NONE ? y : apply(p, c == '+' ? CAROM_OP_ADD : CAROM_OP_SUB, x, y, CAROM_NONE);
    }
    return x;
}

// The comparison that starts here: its length in bytes, 0 for none.
static size_t comparison(parser *p, carom_op *op) {
    const int c = next(p);
    const bool equal = peek(p, 1) == '=';
    switch (c) {
    case '<': *op = equal ? CAROM_OP_LE : CAROM_OP_LT; return equal ? 2 : 1;
    case '>': *op = equal ? CAROM_OP_GE : CAROM_OP_GT; return equal ? 2 : 1;
    case '=': *op = CAROM_OP_EQ; return equal ? 2 : 0;
    case '!': *op = CAROM_OP_NE; return equal ? 2 : 0;
    default: return 0;
    }
}

static carom_node compared(parser *p) {
    carom_op op, second;
    const carom_node x = sum(p);
    if (x == CAROM_NONE) return x;
    const size_t n = comparison(p, &op);
    if (n == 0) {
        if (foreign(p)) return CAROM_NONE;
        if (next(p) == '=') return FAIL(p, p->at, "'=' is not an operator; equality is written '=='");
        return x;
    }
    p->at += n;
    if (op == CAROM_OP_LT && peek(p, 0) == '>') return FAIL(p, p->at - 1, "'<>' is not an operator; write a != b");
    const carom_node y = sum(p);
    if (y == CAROM_NONE || foreign(p)) return CAROM_NONE;
    if (comparison(p, &second) > 0) return FAIL(p, p->at, "comparisons do not chain; put the first one in parentheses");
    return apply(p, op, x, y, CAROM_NONE);
}

static carom_node expression(parser *p) {
    if (++p->depth > 2 * NESTING) return too_deep(p);
    const carom_node x = compared(p);
    --p->depth;
    return x;
}

carom_node carom_parse(carom_graph *g, const char *text, size_t length, const carom_scope *scope, size_t *offset,
                       carom_error *err) {
    size_t ignored;
    parser p = {
        .g = g, .text = text, .length = length, .scope = scope, .offset = offset ? offset : &ignored, .err = err};
    if (next(&p) < 0) return FAIL(&p, 0, "the expression is empty");
    const carom_node x = expression(&p);
    if (x == CAROM_NONE) {
        if (carom_graph_failed(g)) return apply(&p, CAROM_OP_NEG, x, CAROM_NONE, CAROM_NONE);
        return x;
    }
    if (next(&p) == ')') return FAIL(&p, p.at, "unmatched ')'");
    if (next(&p) == ',')
        return FAIL(&p, p.at, "a comma outside of a function's parentheses; numbers have decimal points");
    if (next(&p) >= 0) {
        const int c = next(&p);
        if (carom_in_word(c) || c == '(' || c == '.')
            return FAIL(&p, p.at, "missing operator before '%c'; write '*' for a product", c);
        return unexpected(&p, "an operator");
    }
    return x;
}
