// letters.h: a text that must be that of a file of test/, letter by letter.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Fails with the first line that differs.
static inline void same_letters(const char *text, const char *file) {
    static char expected[100000];
    FILE *kept = fopen(file, "rb");
    assert_non_null(kept);
    expected[fread(expected, 1, sizeof expected - 1, kept)] = 0;
    fclose(kept);
    for (const char *a = text, *b = expected; *a || *b; a += *a == '\n', b += *b == '\n') {
        const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0) fail_msg("%.*s\nis not\n%.*s", (int)n, a, (int)m, b);
        a += n, b += m;
    }
}

/// The same of what `show` writes.
static inline void same_letters_of(void (*show)(FILE *f), const char *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    show(f);
    fclose(f);
    same_letters(text, file);
    free(text);
}
