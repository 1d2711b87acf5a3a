/* Blocks that are lost, for leaks.c to find: one, one that only it leads to, one of the C library; a fourth is in use.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

__attribute__((noinline)) static void lose(void) {
    void *volatile *volatile outer = malloc(3 * sizeof *outer);
    char *volatile text = strdup("lost");
    if (!outer || !text) abort();
    outer[2] = malloc(100);
    outer = NULL;
    text = NULL;
}

// What the stack still holds of the calls before is written over.
__attribute__((noinline)) static void wipe(void) {
    volatile char stack[4096];
    for (size_t i = 0; i < sizeof stack; i++) stack[i] = 0;
}

int main(void) {
    kept = malloc(8);
    lose();
    wipe();
    return kept ? 0 : 1;
}
