// rewrite.h (private): the text of a model with other values of parameters.
#pragma once
#include <carom/model.h>

/// text: what m was read from.  *out: to be freed.  CAROM_UNSUPPORTED: a value does not stand in the text as one piece.
carom_status carom_model_rewrite(const carom_model *m, const char *text, size_t length, int n, const int *parameter,
                                 const double *value, char **out, carom_error *err);
