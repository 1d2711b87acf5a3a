// test_parse.c: grammar, names, error sentences with their byte, and text that is not an expression at all.
#include "expr/expr.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// x, y, a.b and x_1 are positions 0 to 3, with primes velocities; no other names.
static carom_node lookup(void *user, carom_graph *g, const char *name, size_t length, int primes, carom_error *err) {
    static const char *const known[] = {"x", "y", "a.b", "x_1"};
    (void)user;
    for (int i = 0; i < 4; ++i)
        if (strlen(known[i]) == length && memcmp(known[i], name, length) == 0 && primes < 2)
            return carom_graph_input(g, primes ? CAROM_VELOCITY : CAROM_POSITION, i);
    if (primes > 1) carom_fail(err, CAROM_BAD_INPUT, "no second rate of %.*s", (int)length, name);
    return CAROM_NONE; // the parser has a sentence of its own
}

static const carom_scope plain = {lookup, NULL, NULL};

static carom_node parse(carom_graph *g, const char *text, const carom_scope *scope, size_t *offset, carom_error *err) {
    *err = (carom_error){0};
    return carom_parse(g, text, strlen(text), scope, offset, err);
}

static double number(const char *text) {
    carom_graph *g = carom_graph_create();
    carom_error err;
    size_t offset;
    const carom_node x = parse(g, text, &plain, &offset, &err);
    double value = NAN;
    if (x == CAROM_NONE) fail_msg("%s: byte %zu: %s", text, offset, err.text);
    if (!carom_graph_is_number(g, x, &value)) fail_msg("%s is not a number", text);
    carom_graph_destroy(g);
    return value;
}

static void same(const char *a, const char *b) {
    carom_graph *g = carom_graph_create();
    carom_error err;
    size_t offset;
    const carom_node x = parse(g, a, &plain, &offset, &err), y = parse(g, b, &plain, &offset, &err);
    if (x == CAROM_NONE || x != y) fail_msg("'%s' and '%s' differ (%s)", a, b, err.text);
    carom_graph_destroy(g);
}

static void wrong_in(const carom_scope *scope, const char *text, size_t where, const char *sentence) {
    carom_graph *g = carom_graph_create();
    carom_error err;
    size_t offset = 9999;
    const carom_node x = parse(g, text, scope, &offset, &err);
    if (x != CAROM_NONE) fail_msg("'%s' was accepted", text);
    if (offset != where || !strstr(err.text, sentence))
        fail_msg("'%s': byte %zu: %s (expected byte %zu: %s)", text, offset, err.text, where, sentence);
    assert_int_equal(err.code, CAROM_BAD_INPUT);
    carom_graph_destroy(g);
}

static void wrong(const char *text, size_t where, const char *sentence) { wrong_in(&plain, text, where, sentence); }

static void numbers_are_read_in_all_forms(void **unused) {
    (void)unused;
    assert_true(number("1e5") == 1e5);
    assert_true(number(".5") == 0.5);
    assert_true(number("3.") == 3);
    assert_true(number(" 2.5E-3\t") == 2.5e-3);
    assert_true(number("1e+2") == 100);
    assert_true(number("pi") == acos(-1.0));
    assert_true(number("1e-400") == 0);
    assert_true(number("0.1") == 0.1);
}

static void precedence_is_that_of_mathematics(void **unused) {
    (void)unused;
    assert_true(number("1 + 2*3") == 7);
    assert_true(number("2^3^2") == 512);
    assert_true(number("-2^2") == -4);
    assert_true(number("2^-1") == 0.5);
    assert_true(number("(-2)^2") == 4);
    assert_true(number("8/4/2") == 1);
    assert_true(number("10 - 4 - 3") == 3);
    assert_true(number("2*-3") == -6);
    assert_true(number("--3") == 3);
    assert_true(number("-+-+3") == 3);
    assert_true(number("1 + 1 == 2") == 1);
    assert_true(number("1 < 2") == 1 && number("2 <= 1") == 0 && number("1 > 2") == 0 && number("2 >= 2") == 1 &&
                number("1 != 1") == 0);
    assert_true(number("(1 < 2) + 1") == 2);
    assert_true(number("if(1 > 2, 10, 20)") == 20);
    assert_true(number("1/2*4") == 2);
    same("-x^2", "0 - x*x");
    same("x - y - x_1", "(x - y) - x_1");
}

static void functions_are_all_there(void **unused) {
    (void)unused;
    const struct { const char *text; double value; } one[] = {
        {"sin(0.5)", sin(0.5)},
        {"cos(0.5)", cos(0.5)},
        {"tan(0.5)", tan(0.5)},
        {"asin(0.5)", asin(0.5)},
        {"acos(0.5)", acos(0.5)},
        {"atan(0.5)", atan(0.5)},
        {"atan2(1, -2)", atan2(1, -2)},
        {"sinh(0.5)", sinh(0.5)},
        {"cosh(0.5)", cosh(0.5)},
        {"tanh(0.5)", tanh(0.5)},
        {"exp(0.5)", exp(0.5)},
        {"log(0.5)", log(0.5)},
        {"sqrt(0.5)", sqrt(0.5)},
        {"abs(-0.5)", 0.5},
        {"sign(-0.5)", -1},
        {"min(2, 1)", 1},
        {"max(1, 2)", 2},
        {"hypot(3, 4)", 5},
        {"floor(-0.5)", -1},
        {"min(3, 2, 4)", 2},
    };
    for (size_t i = 0; i < sizeof one / sizeof one[0]; ++i) {
        assert_true(number(one[i].text) == one[i].value);
        assert_true(carom_parse_reserved(one[i].text, strcspn(one[i].text, "(")));
    }
    assert_true(carom_parse_reserved("if", 2) && carom_parse_reserved("pi", 2));
    assert_false(carom_parse_reserved("t", 1) || carom_parse_reserved("si", 2) || carom_parse_reserved("sinx", 4));
}

static void names_may_hold_dots_and_primes_follow(void **unused) {
    (void)unused;
    same("a.b", " a.b ");
    same("x'", "(x')");
    same("a.b' + x_1'", "x_1' + a.b'");
    wrong("a.c + 1", 0, "unknown name 'a.c'");
    wrong("1 + x''", 4, "no second rate of x");
    wrong("x.", 1, "'.'");
    wrong("x y", 2, "missing operator before");
}

static void errors_name_the_byte_and_the_remedy(void **unused) {
    (void)unused;
    wrong("", 0, "empty");
    wrong("  \n ", 0, "empty");
    wrong("1 +", 3, "unexpected end of expression");
    wrong("1 + * 2", 4, ", got '*'");
    wrong("(1 + 2", 0, "unmatched '('");
    wrong("1 + 2)", 5, "unmatched ')'");
    wrong("sin(1", 5, "unexpected end of expression; expected ',' or ')'");
    wrong("2 x", 2, "write '*'");
    wrong("2x", 1, "write '*'");
    wrong("2(x)", 1, "write '*'");
    wrong("x(2)", 0, "unknown function 'x'");
    wrong("1 + sni(x)", 4, "did you mean 'sin'?");
    wrong("sqt(2)", 0, "did you mean 'sqrt'?");
    wrong("sin(1, 2)", 0, "sin requires 1 argument, got 2");
    wrong("atan2(1)", 0, "atan2 requires 2 arguments, got 1");
    wrong("if(1, 2)", 0, "if requires 3 arguments, got 2");
    wrong("sin()", 0, "sin requires 1 argument, got 0");
    wrong("min(1)", 0, "min requires at least 2 arguments, got 1");
    wrong("max(1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8)", 0, "more than 16 arguments");
    wrong("sin + 1", 0, "needs arguments");
    wrong("sin'(1)", 0, "prime");
    wrong("pi'", 0, "pi is constant; its rate is zero");
    wrong("1 < 2 < 3", 6, "do not chain");
    wrong("x = 1", 2, "'=='");
    wrong("x ! 1", 2, ", got '!'");
    wrong("x ** 2", 2, "'^'");
    wrong("1, 2", 1, "comma");
    wrong("1.2.3", 3, "second decimal point");
    wrong("1e", 1, "exponent");
    wrong("1e999", 0, "too large");
    wrong("x + \xc3\xa4", 4, "byte 0xc3");
    wrong("x \x01", 2, "byte 0x01");
    wrong("x + $", 4, ", got '$'");
    wrong("()", 1, ", got ')'");
    wrong("'x", 0, ", got '''");
    wrong(".", 0, ", got '.'");
}

// What other languages write: the message names what to write here, and that is read and gives the same number.
static void other_languages(void **unused) {
    (void)unused;
    static const struct { const char *text; size_t at; const char *write, *here; double value; } of[] = {
        {"1 if x > 0 else 2", 2, "if(condition, then, else)", "if(3 > 0, 1, 2)", 1},
        {"x if x > 0 else 2", 2, "if(condition, then, else)", "if(-3 > 0, 1, 2)", 2},
        {"if x > 0 then 1", 0, "if(condition, then, else)", "if(0, 1, 2)", 2},
        {"x > 0 ? 1 : 2", 6, "if(condition, then, else)", "if(1, 1, 2)", 1},
        {"x > 0 and y < 1", 6, "(a)*(b), or if(a, b, 0)", "(1 > 0)*(2 < 1)", 0},
        {"(x > 0) and y", 8, "(a)*(b), or if(a, b, 0)", "if(1 > 0, 1 < 2, 0)", 1},
        {"x > 0 && y < 1", 6, "(a)*(b), or if(a, b, 0)", "(1 > 0)*(1 < 2)", 1},
        {"min(x & y, 1)", 6, "(a)*(b), or if(a, b, 0)", "if(0, 1, 0)", 0},
        {"x or y", 2, "max(a, b)", "max(1 > 2, 2 > 1)", 1},
        {"x || y", 2, "max(a, b)", "max(1 > 2, 2 > 3)", 0},
        {"not x", 0, "if(a, 0, 1)", "if(2 > 1, 0, 1)", 0},
        {"!x", 0, "if(a, 0, 1)", "if(2 < 1, 0, 1)", 1},
        {"not(x)", 0, "if(a, 0, 1)", "if(0, 0, 1)", 1},
        {"x mod 3", 2, "x - y*floor(x/y)", "8 - 3*floor(8/3)", 2},
        {"2*x % 3", 4, "x - y*floor(x/y)", "-1 - 3*floor(-1/3)", 2},
        {"mod(x, 3)", 0, "x - y*floor(x/y)", "7.5 - 2*floor(7.5/2)", 1.5},
        {"(x % 3)", 3, "x - y*floor(x/y)", "6 - 3*floor(6/3)", 0},
        {"x // 3", 2, "floor(x/y)", "floor(7/3)", 2},
        {"x <> 3", 2, "a != b", "2 != 3", 1},
        {"ln(x)", 0, "log(x)", "log(1)", 0},
        {"ln x", 0, "log(x)", "log(1)", 0},
        {"log10(x)", 0, "log(x)/log(10)", "log(100)/log(10)", 2},
        {"log2(x)", 0, "log(x)/log(2)", "log(8)/log(2)", 3},
        {"pow(x, 2)", 0, "x^y", "3^2", 9},
        {"power(x, 2)", 0, "x^y", "3^2", 9},
        {"ceil(x)", 0, "-floor(-x)", "-floor(-2.5)", 3},
        {"round(x)", 0, "floor(x + 1/2)", "floor(2.6 + 1/2)", 3},
        {"clip(x, 0, 1)", 0, "min(max(x, a), b)", "min(max(3, 0), 1)", 1},
        {"cot(x)", 0, "1/tan(x)", "1/tan(pi/4)", 1},
        {"arctan(x)", 0, "atan(x)", "atan(0)", 0},
        {"math.sin(x)", 0, "did you mean 'sin'?", "sin(0)", 0},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        wrong(of[i].text, of[i].at, of[i].write);
        if (!(fabs(number(of[i].here) - of[i].value) < 1e-15)) fail_msg("%s is %g", of[i].here, number(of[i].here));
    }
    same("x_1 - y*floor(x_1/y)", "x_1-(y*floor(x_1/y))");
    wrong("x order", 2, "missing operator before 'o'"); // a name that begins like an operator
}

static void text_is_read_to_its_length_only(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_error err;
    size_t offset;
    double value;
    assert_true(carom_graph_is_number(g, carom_parse(g, "12345", 2, &plain, &offset, &err), &value) && value == 12);
    assert_int_equal(carom_parse(g, "1\0+1", 4, &plain, &offset, &err), CAROM_NONE);
    assert_int_equal(offset, 1);
    assert_int_equal(carom_parse(g, "1 +", 3, &plain, NULL, NULL), CAROM_NONE); // nobody has to listen
    carom_graph_destroy(g);
}

static carom_node one_argument(void *user, carom_graph *g, const char *name, size_t length, int n,
                               const carom_node *args, carom_error *err) {
    (void)user, (void)g, (void)err;
    if (n == 1 && length == 3 && memcmp(name, "max", 3) == 0) return args[0];
    if (length == 4 && memcmp(name, "zero", 4) == 0) return carom_graph_number(g, n);
    return CAROM_NONE;
}

static void unknown_calls_go_to_the_caller(void **unused) {
    (void)unused;
    const carom_scope scope = {lookup, one_argument, NULL};
    carom_graph *g = carom_graph_create();
    carom_error err;
    size_t offset;
    assert_int_equal(parse(g, "max(x)", &scope, &offset, &err), parse(g, "x", &scope, &offset, &err));
    assert_int_equal(parse(g, "zero()", &scope, &offset, &err), carom_graph_number(g, 0));
    carom_graph_destroy(g);
    wrong_in(&scope, "1 + sni(x)", 4, "did you mean 'sin'?");
    wrong_in(&scope, "sin(1, 2)", 0, "sin requires 1 argument, got 2");
}

static char *repeated(const char *piece, int n, const char *middle, const char *close) {
    char *text = malloc((strlen(piece) + strlen(close)) * (size_t)n + strlen(middle) + 1), *at = text;
    assert_non_null(text);
    for (int i = 0; i < n; ++i) at += sprintf(at, "%s", piece);
    at += sprintf(at, "%s", middle);
    for (int i = 0; i < n; ++i) at += sprintf(at, "%s", close);
    return text;
}

static void nesting_is_limited_and_length_is_not(void **unused) {
    (void)unused;
    char *text = repeated("(", 190, "1", ")");
    assert_true(number(text) == 1);
    free(text);
    const struct {
        const char *piece, *middle, *close;
    } deep[] = {{"(", "1", ")"}, {"sin(", "1", ")"}, {"1^", "1", ""}, {"-(", "1", ")"}};
    for (int i = 0; i < 4; ++i) {
        text = repeated(deep[i].piece, 100000, deep[i].middle, deep[i].close);
        carom_graph *g = carom_graph_create();
        carom_error err;
        size_t offset;
        assert_int_equal(parse(g, text, &plain, &offset, &err), CAROM_NONE);
        assert_non_null(strstr(err.text, "200 levels of nesting"));
        free(text);
        carom_graph_destroy(g);
    }
    text = repeated("1+", 1000000, "1", "");
    assert_true(number(text) == 1000001);
    free(text);
    text = repeated("-", 1000000, "1", "");
    assert_true(number(text) == 1);
    free(text);
    text = repeated("1", 500, "", "");
    wrong(text, 0, "more than 400 characters");
    free(text);
}

// Bytes that are often expressions, sometimes nearly so, and sometimes anything.  Nothing may crash; whatever is
// refused has a sentence and a byte inside the text.
static void no_text_crashes_the_parser(void **unused) {
    (void)unused;
    static const char *const piece[] = {"x", "y'", "a.b", "1",    "2.5e3", "(",      ")",   "+",    "-", "*",
                                        "/", "^",  ",",   "<",    "==",    "sin(",   "if(", "min(", " ", ".",
                                        "'", "=",  "pi",  "\xff", "0",     "max(x,", "1e",  "_"};
    uint64_t state = 42;
    carom_graph *g = carom_graph_create();
    int accepted = 0;
    for (int k = 0; k < 100000; ++k) {
        char text[96];
        size_t length = 0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int n = (int)(state >> 60) + 1;
        for (int i = 0; i < n; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const unsigned r = (unsigned)(state >> 33);
            if (k % 4 == 0) text[length++] = (char)(r & 255);
            else {
                const char *s = piece[r % (sizeof piece / sizeof piece[0])];
                memcpy(text + length, s, strlen(s));
                length += strlen(s);
            }
        }
        char *exact = malloc(length); // so that a sanitizer sees a byte read too far
        assert_non_null(exact);
        memcpy(exact, text, length);
        carom_error err = {0};
        size_t offset = 9999;
        const carom_node x = carom_parse(g, exact, length, &plain, &offset, &err);
        if (x == CAROM_NONE) assert_true(err.text[0] && offset <= length);
        else ++accepted;
        free(exact);
    }
    assert_true(accepted > 1000 && !carom_graph_failed(g));
    carom_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_in_all_forms),
        cmocka_unit_test(precedence_is_that_of_mathematics),
        cmocka_unit_test(functions_are_all_there),
        cmocka_unit_test(names_may_hold_dots_and_primes_follow),
        cmocka_unit_test(errors_name_the_byte_and_the_remedy),
        cmocka_unit_test(other_languages), cmocka_unit_test(text_is_read_to_its_length_only),
        cmocka_unit_test(unknown_calls_go_to_the_caller),
        cmocka_unit_test(nesting_is_limited_and_length_is_not),
        cmocka_unit_test(no_text_crashes_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
