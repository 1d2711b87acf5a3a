// foreign.c: what people write who come from other languages.  Each remedy is an expression that carom reads.
#include "expr/foreign.h"
#include "base/text.h"
#include <stdbool.h>
#include <string.h>

typedef struct foreign {
    const char *name, *write;
} foreign;

#define BOTH "(a)*(b), or if(a, b, 0)"
#define EITHER "max(a, b)"
#define CHOICE "if(condition, then, else)"
#define REMAINDER "x - y*floor(x/y)"

// Longer ones first where one begins with another.
static const foreign operators[] = {
    {"if", CHOICE},     {"then", CHOICE},   {"else", CHOICE},      {"?", CHOICE},          {"and", BOTH},
    {"AND", BOTH},      {"&&", BOTH},       {"&", BOTH},           {"or", EITHER},         {"OR", EITHER},
    {"||", EITHER},     {"|", EITHER},      {"xor", "(a) != (b)"}, {"not", "if(a, 0, 1)"}, {"mod", REMAINDER},
    {"MOD", REMAINDER}, {"rem", REMAINDER}, {"%", REMAINDER},      {"div", "floor(x/y)"},  {"~=", "a != b"},
};

static const foreign functions[] = {
    {"ln", "log(x)"},
    {"log10", "log(x)/log(10)"},
    {"lg", "log(x)/log(10)"},
    {"log2", "log(x)/log(2)"},
    {"ld", "log(x)/log(2)"},
    {"log1p", "log(1 + x)"},
    {"expm1", "exp(x) - 1"},
    {"exp10", "10^x"},
    {"exp2", "2^x"},
    {"pow", "x^y"},
    {"power", "x^y"},
    {"sqr", "x^2"},
    {"square", "x^2"},
    {"cbrt", "sign(x)*abs(x)^(1/3)"},
    {"mod", REMAINDER},
    {"fmod", REMAINDER},
    {"rem", REMAINDER},
    {"ceil", "-floor(-x)"},
    {"ceiling", "-floor(-x)"},
    {"round", "floor(x + 1/2)"},
    {"trunc", "sign(x)*floor(abs(x))"},
    {"fix", "sign(x)*floor(abs(x))"},
    {"int", "floor(x)"},
    {"clip", "min(max(x, a), b)"},
    {"clamp", "min(max(x, a), b)"},
    {"heaviside", "x >= 0"},
    {"sec", "1/cos(x)"},
    {"csc", "1/sin(x)"},
    {"cot", "1/tan(x)"},
    {"asinh", "log(x + sqrt(x^2 + 1))"},
    {"acosh", "log(x + sqrt(x^2 - 1))"},
    {"atanh", "log((1 + x)/(1 - x))/2"},
    {"deg2rad", "x*pi/180"},
    {"radians", "x*pi/180"},
    {"rad2deg", "x*180/pi"},
    {"degrees", "x*180/pi"},
    {"arcsin", "asin(x)"},
    {"arccos", "acos(x)"},
    {"arctan", "atan(x)"},
    {"arctan2", "atan2(y, x)"},
    {"sgn", "sign(x)"},
    {"fabs", "abs(x)"},
    {"and", BOTH},
    {"or", EITHER},
    {"not", "if(a, 0, 1)"},
    {"xor", "(a) != (b)"},
    {"ifelse", CHOICE},
    {"where", CHOICE},
    {"iif", CHOICE},
};

static const foreign constants[] = {
    {"true", "1"},  {"True", "1"},  {"TRUE", "1"},
    {"false", "0"}, {"False", "0"}, {"FALSE", "0"},
    {"PI", "pi"},   {"Pi", "pi"},   {"e", "exp(1), or exp(x) for a power"},
};

// In UTF-8, as texts that were copied have them.
static const foreign signs[] = {
    {"\u00b2", "^2"}, {"\u00b3", "^3"},      {"\u00b7", "*"},  {"\u00d7", "*"},  {"\u00f7", "/"},
    {"\u2212", "-"},  {"\u2013", "-"},       {"\u2264", "<="}, {"\u2265", ">="}, {"\u2260", "!="},
    {"\u03c0", "pi"}, {"\u221a", "sqrt(x)"}, {"\u2019", "'"},  {"\u2032", "'"},  {"\u00a0", "a plain space"},
};

size_t carom_foreign_operator(const char *text, size_t length, const char **write) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
        const size_t n = strlen(operators[i].name);
        if (length < n || memcmp(text, operators[i].name, n) != 0) continue;
        if (carom_in_word(text[0]) && length > n && (carom_in_word(text[n]) || text[n] == '.' || text[n] == '\''))
            continue; // a longer name
        *write = operators[i].write;
        return n;
    }
    return 0;
}

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

// LN and Ln are ln.
static bool same(const char *name, const char *text, size_t length) {
    size_t i = 0;
    while (i < length && name[i] && name[i] == small(text[i])) ++i;
    return i == length && !name[i];
}

const char *carom_foreign_function(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
        if (same(functions[i].name, name, length)) return functions[i].write;
    return NULL;
}

const char *carom_foreign_constant(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; ++i)
        if (strlen(constants[i].name) == length && memcmp(constants[i].name, name, length) == 0)
            return constants[i].write;
    return NULL;
}

size_t carom_foreign_sign(const char *text, size_t length, const char **write) {
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i) {
        const size_t n = strlen(signs[i].name);
        if (length < n || memcmp(text, signs[i].name, n) != 0) continue;
        *write = signs[i].write;
        return n;
    }
    return 0;
}
