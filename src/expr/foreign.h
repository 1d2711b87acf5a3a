// foreign.h: operators and functions of other languages, and how carom writes them.
#pragma once
#include <stddef.h>

/// The operator of another language that the text starts with ("and", "%", "&&", "if"): its length, and what to write
/// instead.  0: none.
size_t carom_foreign_operator(const char *text, size_t length, const char **write);

/// What to write instead of a function of another language ("log10": "log(x)/log(10)"); NULL: unknown.
const char *carom_foreign_function(const char *name, size_t length);

/// The same of a constant ("true": "1"), for names that the model does not have.
const char *carom_foreign_constant(const char *name, size_t length);

/// The sign outside of ASCII that the text starts with: its bytes, and what to write instead.  0: unknown.
size_t carom_foreign_sign(const char *text, size_t length, const char **write);
