// number.c: numbers as text, see number.h.
#define _POSIX_C_SOURCE 200809L // uselocale
#include "base/number.h"
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

// The C locale costs no memory; a system that cannot make it leaves the locale as it is.
carom_locale carom_locale_begin(void) {
    const locale_t mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!mine) return (carom_locale){NULL, NULL};
    return (carom_locale){(void *)uselocale(mine), (void *)mine};
}

void carom_locale_end(carom_locale l) {
    if (!l.mine) return;
    uselocale((locale_t)l.old);
    freelocale((locale_t)l.mine);
}

double carom_number(const char *text, char **end) {
    const carom_locale l = carom_locale_begin();
    const double x = strtod(text, end);
    carom_locale_end(l);
    return x;
}

int carom_vformat(char *text, size_t size, const char *format, va_list args) {
    const carom_locale l = carom_locale_begin();
    const int length = vsnprintf(text, size, format, args);
    carom_locale_end(l);
    return length;
}

int carom_format(char *text, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = carom_vformat(text, size, format, args);
    va_end(args);
    return length;
}

void carom_shortest(char *text, size_t size, int digits, double x) {
    do carom_format(text, size, "%.*g", digits, x);
    while (carom_number(text, NULL) != x && ++digits <= 17);
}

#ifdef __SIZEOF_INT128__
enum { DIGITS = 17, HIGHEST = 16, LOWEST_BIT = -53 }; // of decimals; exponents of ten and of two

__extension__ typedef unsigned __int128 wide;

// x 10^p, rounded to even as printf() does, for x = m 2^e: m 5^p has at most 128 bits.
static uint64_t scaled(uint64_t m, int e, int p) {
    wide all = m;
    const int shift = -(e + p);
    for (; p >= 8; p -= 8) all *= 390625; // 5^8
    for (; p > 0; --p) all *= 5;
    if (shift <= 0) return (uint64_t)all << -shift;
    const wide rest = all & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    const uint64_t whole = (uint64_t)(all >> shift);
    return whole + (rest > half || (rest == half && whole % 2));
}

// The digits of |x| without zeros at their end, and the exponent of the first one; 0: not by this way.
static int digits_of(char digit[DIGITS], int *exponent, double x) {
    static const uint64_t END = UINT64_C(100000000000000000); // 10^DIGITS
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int two = (int)(bits >> 52 & 0x7ff) - 1023;
    const uint64_t m = (bits & 0xfffffffffffff) | UINT64_C(1) << 52;
    // larger ones have more than DIGITS
    if (two < LOWEST_BIT || !(fabs(x) < 1e17)) return 0;
    int ten = (int)floor(two * 0.30102999566398120), n = DIGITS; // or one less than it is
    uint64_t d = scaled(m, two - 52, HIGHEST - ten);
    if (d >= END) d = scaled(m, two - 52, HIGHEST - ++ten);
    for (int i = DIGITS; i-- > 0; d /= 10) digit[i] = (char)('0' + d % 10);
    while (digit[n - 1] == '0') --n;
    *exponent = ten;
    return n;
}

static char *put(char *to, const char *from, int n) { return (char *)memcpy(to, from, (size_t)n) + n; }

int carom_exact(char text[CAROM_EXACT], double x) {
    char digit[DIGITS], *to = text;
    int ten = 0, n = x == 0 ? (*digit = '0', 1) : digits_of(digit, &ten, x);
    if (n == 0) return snprintf(text, CAROM_EXACT, "%.17g", x);
    if (signbit(x)) *to++ = '-';
    if (ten < -4) {
        *to++ = digit[0];
        if (n > 1) *to++ = '.', to = put(to, digit + 1, n - 1);
        return (int)(put(to, (char[]){'e', '-', (char)('0' + -ten / 10), (char)('0' + -ten % 10)}, 4) - text);
    }
    if (ten < 0)
        to = put(put(to, "0.000", 1 - ten), digit, n);
    else if (n <= ten + 1)
        to = put(put(to, digit, n), "0000000000000000", ten + 1 - n);
    else
        to = put(put(put(to, digit, ten + 1), ".", 1), digit + ten + 1, n - ten - 1);
    return (int)(to - text);
}
#else
int carom_exact(char text[CAROM_EXACT], double x) { return snprintf(text, CAROM_EXACT, "%.17g", x); }
#endif
