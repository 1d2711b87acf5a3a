// settings.c: what --set, --end and --step say of a model.
#include "base/number.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_is_expression(const char *text) {
    const int first = carom_lower((unsigned char)text[0]);
    return strpbrk(text, "*+/(^") != NULL || (first >= 'a' && first <= 'z');
}

bool cli_by_expression(const cli_args *a, const char *name) {
    const char *text = cli_value(a, name);
    double x;
    carom_error err;
    return text && cli_is_expression(text) && !carom_model_quantity(NULL, "t", text, strlen(text), &x, &err);
}

const char **cli_settings(const cli_args *a) {
    static const char *const names[] = {"end", "step", NULL};
    const char **given = cli_list(a, "set");
    size_t n = (size_t)carom_list_length(given), bytes = 0;
    for (int i = 0; names[i]; ++i) bytes += cli_has(a, names[i]) ? strlen(cli_value(a, names[i])) + 20 : 0;
    const char **list = calloc((n + 3) * sizeof *list + bytes, 1);
    if (!list) abort();
    char *text = (char *)(list + n + 3);
    memcpy(list, given, n * sizeof *list);
    for (int i = 0; names[i]; ++i) {
        if (!cli_by_expression(a, names[i])) continue;
        list[n++] = text;
        text += sprintf(text, "simulation.%s=%s", names[i], cli_value(a, names[i])) + 1;
    }
    free(given);
    return list;
}
