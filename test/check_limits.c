// check_limits.c: docs/limits.md agrees with the sources: every constant that it names, `FILE: NAME = VALUE`, is there.
#include "sources.h"
#include <ctype.h>

// Is NAME = VALUE in the text, as whole words?
static bool defined(const char *text, const char *what) {
    const size_t n = strlen(what);
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        const char before = at == text ? ' ' : at[-1], after = at[n];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) && after != '.')
            return true;
    }
    return false;
}

int main(void) {
    const char *root = CAROM_SOURCE_DIR;
    char path[4096];
    int limits = 0, faults = 0;
    (void)walk;
    snprintf(path, sizeof path, "%s/docs/limits.md", root);
    char *page = read_text(path);
    for (char *at = strstr(page, "| `"); at; at = strstr(at + 1, "| `")) {
        char file[200], what[200];
        if (sscanf(at, "| `%199[^:`]: %199[^`]`", file, what) != 2) continue;
        snprintf(path, sizeof path, "%s/%s", root, file);
        char *text = read_text(path);
        ++limits;
        if (!defined(text, what)) printf("docs/limits.md: %s is not in %s\n", what, file), ++faults;
        free(text);
    }
    free(page);
    printf("%d limits, %d faults\n", limits, faults);
    return faults || limits < 40;
}
