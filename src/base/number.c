// number.c: numbers as text, see number.h.
#define _POSIX_C_SOURCE 200809L // uselocale
#include "base/number.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
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
