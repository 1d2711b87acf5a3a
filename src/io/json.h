// json.h: strings and numbers of JSON.
#pragma once
#include <carom/result.h>

/// A JSON string with its quotes; a number, or null when it is not finite.
void carom_json_string(FILE *f, const char *text);
void carom_json_number(FILE *f, double x);
