// option.h: described settings: finding and reading them.
#pragma once
#include <carom/option.h>

int carom_option_count(const carom_option *list);
/// Index of the option called name (length bytes), or -1.
int carom_option_find(const carom_option *list, const char *name, size_t length);
void carom_option_defaults(const carom_option *list, double *value);
/// Read text as a value of option o: *value is a number or the index of the chosen word.
carom_status carom_option_read(const carom_option *o, const char *text, double *value, carom_error *err);
/// The candidate nearest to word in spelling, or NULL when none is near.  next(user, i) gives the
/// i-th candidate and NULL after the last.
const char *carom_nearest(const char *word, const char *(*next)(const void *user, int i), const void *user);
