// more.h: options as text.
#pragma once
#include <carom/option.h>

void carom_option_write(const carom_option *o, double value, char *text, size_t size);
