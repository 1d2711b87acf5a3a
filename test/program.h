// program.h: the program as a person calls it, from a test: arguments through the shell, then exit status, output and
// complaints.  Files are those of the working folder; a test that calls the program moves into a folder of its own
// first.
#ifndef CAROM_TEST_PROGRAM_H
#define CAROM_TEST_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka wants the above first
#include <cmocka.h>

static char out[1 << 20], complaints[1 << 16];

#define UNUSED_IS_FINE __attribute__((unused))

#define assert_says(text, words)                                                                   \
    do {                                                                                           \
        if (!strstr(text, words)) fail_msg("'%s' is not in: %.2000s", words, text);                \
    } while (0)

UNUSED_IS_FINE static void put(const char *name, const char *text) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// The start of a file, NUL behind it; the number of its characters in text.
UNUSED_IS_FINE static size_t get(const char *name, char *text, size_t size) {
    FILE *f = fopen(name, "rb");
    if (!f) fail_msg("cannot open %s", name);
    const size_t n = fread(text, 1, size - 1, f);
    text[n] = 0;
    fclose(f);
    return n;
}

// `carom ARGUMENTS`: its exit status, or 1000 + the signal that ended it, with its output in out[] and complaints[].
UNUSED_IS_FINE __attribute__((format(printf, 1, 2))) static int carom(const char *format, ...) {
    char arguments[3072], command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, CAROM_BINARY_DIR "/carom %s >stdout.txt 2>stderr.txt", arguments);
    const int status = system(command);
    get("stdout.txt", out, sizeof out);
    get("stderr.txt", complaints, sizeof complaints);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
