// fuzz.h: what the fuzz targets share.
//
// A target is a file with LLVMFuzzerTestOneInput(): libFuzzer calls it (make fuzz, with clang), or replay.c does, which
// needs nothing (the tests).  It aborts when a promise is broken; sanitizers watch the rest.  Each target has a folder
// of inputs in corpus/: what is worth to start from, and every input that was once a finding.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(condition, ...)                                                     \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                           \
            fprintf(stderr, "\n");                                                  \
            abort();                                                                \
        }                                                                           \
    } while (0)

/// Decisions from the input; zeros behind its end.
typedef struct choices {
    const uint8_t *data;
    size_t left;
} choices;

static inline unsigned byte_of(choices *c) {
    if (c->left == 0) return 0;
    --c->left;
    return *c->data++;
}
static inline int below(choices *c, int n) { return n > 0 ? (int)(byte_of(c) % (unsigned)n) : 0; }
/// In [-1, 1], in steps of 1/127.
static inline double real_of(choices *c) { return ((int)byte_of(c) - 127) / 127.0; }
