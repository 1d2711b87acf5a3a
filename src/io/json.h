// json.h: strings and numbers of JSON.
#pragma once
#include <carom/result.h>

/// A JSON string with its quotes; a number, or null when it is not finite.
void carom_json_string(FILE *f, const char *text);
void carom_json_number(FILE *f, double x);
/// Several at once.  %s: a string; %g: a number; %i: true or false; %d, %ld: an integer; all else as it is.
void carom_json(FILE *f, const char *format, ...)
#if defined __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/// [x_1, x_2, ...] and {"name_1": x_1, ...}
void carom_json_list(FILE *f, const double *x, int n);
void carom_json_named(FILE *f, char *const *name, const double *x, int n);
