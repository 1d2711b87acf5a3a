// number.h: numbers as text, whatever locale the program has set.
//
// A host that calls setlocale() with a decimal comma changes strtod() and printf() for everybody.  Files, options and
// messages of carom are in the C locale always: numbers are read with carom_number(), and text with numbers is made
// between carom_locale_begin() and carom_locale_end(), which change the locale of this thread alone.
#pragma once
#include <stdarg.h>
#include <stddef.h>

/// strtod() in the C locale.
double carom_number(const char *text, char **end);

/// snprintf() in the C locale.
int carom_format(char *text, size_t size, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/// The shortest decimal that is this number, of at least so many digits (up to 17).
void carom_shortest(char *text, size_t size, int digits, double x);

/// snprintf("%.17g") where the locale is C, several times as fast: every bit of x is in it.  The length; no 0 follows.
enum { CAROM_EXACT = 32 };
int carom_exact(char text[CAROM_EXACT], double x);

int carom_vformat(char *text, size_t size, const char *format, va_list args);

/// A letter of ASCII in lower case; everything else as it is.
static inline int carom_lower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

/// The C locale for this thread, until carom_locale_end() gets what this returned.
typedef struct carom_locale { void *old, *mine; } carom_locale;
carom_locale carom_locale_begin(void);
void carom_locale_end(carom_locale l);
